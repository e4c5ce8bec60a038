"""The page of one source: its document with the passage highlighted, without any script."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from pipeline.messages import text
from pipeline.types import Language, SourceView
from pipeline.web.exchange import HTML, Response
from pipeline.web.markup import is_web_address
from pipeline.web.security import page_headers

__all__ = ["source_page"]

# Characters shown before and after the passage; a browser lays out a whole book only slowly.
_AROUND = 100_000
_STYLE = """
:root{color-scheme:light dark}
body{font:17px/1.6 system-ui,"Segoe UI",Arial,sans-serif;margin:0 auto;padding:24px 16px 64px;max-width:46em}
h1{font-size:1.4em;line-height:1.3;margin:0 0 .3em;overflow-wrap:anywhere}
.about{margin:0 0 1.6em;opacity:.8;overflow-wrap:anywhere}
.path{margin:-1em 0 1.6em;font-weight:600;overflow-wrap:anywhere}
.text{white-space:pre-wrap;overflow-wrap:anywhere}
mark{background:#ffe58a;color:#1a1a1a;padding:.1em 0;scroll-margin-top:30vh}
mark:target{outline:2px solid #c98a00;outline-offset:3px}
a{color:#0f5c56}
@media (prefers-color-scheme:dark){body{background:#141618;color:#ebe8e1}a{color:#7bd3c6}}
@media print{.about a{display:none}}
""".strip()
_HEADERS = page_headers(_STYLE)


def source_page(view: SourceView, language: Language, *, with_original: bool = False) -> Response:
    """The page for a person; every word of the document is shown as text, whatever it holds.

    Args:
        view: The passage in its document.
        language: Language of the few words around it.
        with_original: The file itself can be had too.
    """
    return Response(200, _html(view, language, with_original).encode(), HTML, _HEADERS)


def _html(view: SourceView, language: Language, with_original: bool) -> str:
    document, chunk = view.document, view.chunk
    title = escape(document.title)
    parts = [
        f'<!DOCTYPE html>\n<html lang="{language}"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{_STYLE}</style></head><body>",
        f'<h1>{title}</h1><p class="about">{_about(view, language, with_original)}</p>{_path(view)}',
    ]
    start, end = max(0, chunk.start - _AROUND), chunk.end + _AROUND
    if start > 0 or end < len(document.text):
        parts.append(f'<p class="about">{escape(text("answers", "page_cut", language))}</p>')
    parts += [
        f'<div class="text">{escape(document.text[start : chunk.start])}',
        f'<mark id="passage">{escape(document.text[chunk.start : chunk.end])}</mark>',
        f"{escape(document.text[chunk.end : end])}</div></body></html>",
    ]
    return "".join(parts)


def _path(view: SourceView) -> str:
    """The headings that lead to the passage; its topic where it has none of its own."""
    chunk = view.chunk
    steps = chunk.headings or ((chunk.topic,) if chunk.topic else ())
    if steps in ((), (view.document.title,)):
        return ""
    return f'<p class="path">{" › ".join(map(escape, steps))}</p>'


def _about(view: SourceView, language: Language, with_original: bool) -> str:
    document, chunk = view.document, view.chunk
    parts = [f"{escape(text('answers', 'page_file', language))}: {escape(document.file)}"]
    if chunk.page is not None:
        parts.append(escape(text("answers", "page_number", language, page=chunk.page)))
    parts.append(f'<a href="#passage">{escape(text("answers", "page_to_passage", language))}</a>')
    link = chunk.link or document.link
    if link is not None and is_web_address(link):
        label = escape(text("answers", "page_original", language))
        parts.append(f'<a href="{escape(link)}" rel="noreferrer">{label}</a>')
    if with_original:
        address = f"/source/{quote(chunk.id, safe='')}/original"
        parts.append(f'<a href="{address}" download>{escape(text("answers", "page_download", language))}</a>')
    return " · ".join(parts)
