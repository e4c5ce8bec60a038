"""A plain answer as simple HTML: h4 p ul ol li a b i br table, nothing else, everything escaped.

What a generator writes is a little Markdown at most; what it copies from documents may hold
anything. So only a few line forms are understood, the rest is text, the only links are the
markers ``[n]``, and a sanitiser holds the whole to the list of tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from typing import NamedTuple

import nh3

from pipeline.messages import text
from pipeline.types import Answer, Language, Mark, Reply

__all__ = ["fragment", "is_web_address", "page"]

_TAGS = {"h4", "p", "ul", "ol", "li", "a", "b", "i", "br", "table", "tr", "td", "th"}
_WEB_ADDRESS = re.compile(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)
_MARKER = re.compile(r"\[(\d{1,2})\]")
_BOLD = re.compile(r"\*\*(\S(?:[^*\n]*\S)?)\*\*")
_LINE_FORMS = {
    "h4": re.compile(r"#{1,6}\s+(?P<text>.+)"),
    "ul": re.compile(r"[-*•–—]\s+(?P<text>.+)"),
    "ol": re.compile(r"(?P<number>\d{1,3})[.)]\s+(?P<text>.+)"),
    "table": re.compile(r"\|(?P<text>.+)\|"),
    "empty": re.compile(r"(?P<text>)"),
}
_TABLE_RULE = re.compile(r"[\s|:-]+")
# Stand for <i> and </i> until the text is escaped; private-use characters, taken out of the answer first.
_OPEN, _CLOSE = "\ue000", "\ue001"
_STYLE = (
    "body{font:15px/1.5 'Segoe UI',Arial,sans-serif;margin:12px;color:#1a1a1a;background:#fff;"
    "word-wrap:break-word}"
    "h4{margin:12px 0 4px}p{margin:6px 0}a{color:#0b57a4}"
    ".q{color:#555}.s{margin:0 0 10px;padding-left:10px;border-left:3px solid #c8d3de}"
    "table{border-collapse:collapse}td,th{border:1px solid #c8d3de;padding:3px 8px;text-align:left}"
)


class _Line(NamedTuple):
    kind: str
    text: str
    number: str = ""


def is_web_address(link: str) -> bool:
    """True for http and https addresses, the only ones that may become a link."""
    return _WEB_ADDRESS.fullmatch(link) is not None


def fragment(answer: Answer, links: Mapping[int, str]) -> str:
    """The answer as an HTML fragment.

    Args:
        answer: Plain text with markers; its marks are shown in italics.
        links: Source number -> address; a marker of another number stays text.
    """
    lines = (_line(line.strip()) for line in _with_marks(answer.text, answer.marks).splitlines())
    blocks = groupby(lines, key=lambda line: line.kind)
    return _sanitised("".join(_block(kind, list(items), links) for kind, items in blocks))


def _sanitised(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href"}, "li": {"value"}},
        url_schemes={"http", "https"},
        link_rel=None,
    )


def _with_marks(answer: str, marks: tuple[Mark, ...]) -> str:
    answer = answer.replace(_OPEN, " ").replace(_CLOSE, " ")
    for mark in sorted(marks, key=lambda mark: -mark.start):
        inner = answer[mark.start : mark.end]
        # An italic stretch must not run over the end of a paragraph.
        inner = "\n".join(f"{_OPEN}{line}{_CLOSE}" if line.strip() else line for line in inner.split("\n"))
        answer = answer[: mark.start] + inner + answer[mark.end :]
    return answer


def _line(line: str) -> _Line:
    bare = line.lstrip(_OPEN)
    for kind, pattern in _LINE_FORMS.items():
        if match := pattern.fullmatch(bare):
            opened = line[: len(line) - len(bare)]
            return _Line(kind, opened + match["text"], match.groupdict().get("number", ""))
    return _Line("p", line)


def _block(kind: str, lines: list[_Line], links: Mapping[int, str]) -> str:
    inner = [_inline(line.text, links) for line in lines]
    match kind:
        case "empty":
            return ""
        case "p":
            return f"<p>{'<br>'.join(inner)}</p>"
        case "h4":
            return "".join(f"<h4>{text}</h4>" for text in inner)
        case "ul":
            return "<ul>" + "".join(f"<li>{text}</li>" for text in inner) + "</ul>"
        case "ol":
            # The written number stays, even where a list begins in the middle.
            numbered = zip((line.number for line in lines), inner, strict=True)
            return "<ol>" + "".join(f'<li value="{n}">{text}</li>' for n, text in numbered) + "</ol>"
        case _:
            rows = (line.text for line in lines if _TABLE_RULE.fullmatch(line.text) is None)
            return "<table>" + "".join(_row(row, links) for row in rows) + "</table>"


def _row(line: str, links: Mapping[int, str]) -> str:
    return "<tr>" + "".join(f"<td>{_inline(cell.strip(), links)}</td>" for cell in line.split("|")) + "</tr>"


def _inline(line: str, links: Mapping[int, str]) -> str:
    def link(match: re.Match[str]) -> str:
        address = links.get(int(match[1]), "")
        if not is_web_address(address):
            return match[0]
        return f'<a href="{escape(address)}">{match[0]}</a>'

    html = _MARKER.sub(link, _BOLD.sub(r"<b>\1</b>", escape(line, quote=False)))
    return html.replace(_OPEN, "<i>").replace(_CLOSE, "</i>")


def page(
    reply: Reply, answer: str, links: Mapping[int, str], language: Language, notes: tuple[str, ...] = ()
) -> str:
    """A whole self-contained page for an HTML field of a 1C form: HTML 4, one inline style, no script.

    Fields of old clients are drawn by Internet Explorer's engine, of newer ones by an old WebKit.

    Args:
        reply: Its question and sources are shown around the answer.
        answer: The answer as ``fragment`` wrote it.
        links: Source number -> address.
        language: Language of the headings.
        notes: Sentences about how the request was carried out.
    """
    question = escape(reply.question)
    return (
        f'<!DOCTYPE html>\n<html lang="{language}"><head><meta charset="utf-8">'
        '<meta http-equiv="X-UA-Compatible" content="IE=edge">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{question}</title><style>{_STYLE}</style></head><body>"
        + "".join(_page_body(reply, answer, links, language, notes))
        + "</body></html>"
    )


def _page_body(
    reply: Reply, answer: str, links: Mapping[int, str], language: Language, notes: tuple[str, ...]
) -> Iterator[str]:
    yield f'<p class="q">{escape(reply.question)}</p>{answer}'
    if reply.answer.marks:
        yield f"<p><i>{escape(text('answers', 'page_unsupported', language))}</i></p>"
    yield from (f'<p class="q">{escape(note)}</p>' for note in notes)
    if reply.sources:
        yield f"<h4>{escape(text('answers', 'page_sources', language))}</h4>"
    for source in reply.sources:
        title = f"[{source.n}] {escape(source.title)}"
        quote = "<br>".join(escape(line) for line in source.quote.splitlines())
        yield f'<p><a href="{escape(links[source.n])}">{title}</a></p><p class="s">{quote}</p>'
