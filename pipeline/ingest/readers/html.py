"""HTML pages: the text a reader came for, in blocks by heading, without menus and scripts."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.common import make_document, read_text, stem, web_link
from pipeline.ingest.readers.html_walk import HtmlWalk, content_root
from pipeline.ingest.readers.origin import origin_of
from pipeline.ingest.readers.sections import Sections
from pipeline.ingest.reasons import reason
from pipeline.text.encodings import Decoded, decode
from pipeline.text.normalise import clean_text
from pipeline.types import Document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

__all__ = ["decode_html", "html_sections", "read_html"]

_DECLARED = re.compile(
    rb"""<meta[^>]{0,400}?charset\s*=\s*["']?\s*([\w.:-]{2,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{2,40})""",
    re.I,
)
# What browsers understand; the rest of Python's codecs (zip, rot13, punycode…) is nobody's page.
_KNOWN = re.compile(
    r"(windows|cp)-?(125\d|866|874)|ibm866|iso-?8859-?\d+|koi8-?[ru]|utf-?8|(x-)?mac-?cyrillic|gb\d*|gbk|big5|"
    r"shift_jis|euc-(jp|kr)",
    re.I,
)
# Often claimed by servers for pages in anything: our own statistics know better.
_CLAIMED_IN_VAIN = ("cp1252", "iso8859-1")
_SAVED_FROM = re.compile(r"<!-- saved from url=\(\d+\)(\S+) -->")
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
_NEVER_NESTED_WORDS = """
area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead tbody
tfoot option optgroup colgroup rb rt rp html head body
"""
_NEVER_NESTED = frozenset(_NEVER_NESTED_WORDS.split())
_MAX_DEPTH = 1000
_MAX_COPIES = 5_000_000
_MAX_ATTRIBUTES = 1000
_LONG_TAG = re.compile(r"<([a-zA-Z][^\s<>]{0,60})\s[^<>]{2000,}")
_FORMATTING = frozenset(
    ("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
)
_META = {
    "description": "description",
    "author": "author",
    "article:published_time": "date",
    "dc.date": "date",
    "date": "date",
}


def read_html(path: Path, file: str) -> list[Document]:
    """Read an ``.html`` file; see `pipeline.ports.Reader`."""
    decoded = read_text(path, file, decode_html)
    parser = _parsed(decoded.text, file)
    metadata, tags = _metadata(parser)
    link = _link(parser, decoded.text) or origin_of(path)
    sections = _walked(parser, file, link)
    title = sections.title or _text_of(parser, "h1") or _text_of(parser, "title") or stem(file)
    metadata |= {"source_type": "html", "encoding": decoded.encoding}
    return [make_document(file, title, sections.text, sections.blocks(title), metadata, link=link, tags=tags)]


def html_sections(html: str, file: str) -> Sections:
    """The text of a page or of a fragment of one.

    Raises:
        UnreadableFileError: It is nested too deeply or too long.
    """
    return _walked(_parsed(html, file), file, None)


def decode_html(data: bytes) -> Decoded:
    """Bytes of a page to text: byte order mark, UTF-8, the page's own word, then as any text.

    Strict UTF-8 comes before the page's word, because browsers save pages as UTF-8 and leave the
    old word inside.

    Raises:
        NotTextError: The bytes are no text.
    """
    match = _DECLARED.search(data[:4096])
    name = (match[1] or match[2]).decode("ascii", "replace") if match else ""
    if data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decode(data)
    if not _KNOWN.fullmatch(name) or codecs.lookup(name).name in (*_CLAIMED_IN_VAIN, "utf-8"):
        return decode(data)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode(name, "replace")
        if text.count("\ufffd") <= 1 + len(text) // 100:
            return Decoded(text, codecs.lookup(name).name)
    return decode(data)


def _parsed(html: str, file: str) -> LexborHTMLParser:
    from selectolax.lexbor import LexborHTMLParser

    depth, copies = _costs(html)
    if depth > _MAX_DEPTH or copies > _MAX_COPIES:
        raise UnreadableFileError(file=file, reason=reason("too_deep"))
    return LexborHTMLParser(_LONG_TAG.sub(_with_few_attributes, html))


def _costs(html: str) -> tuple[int, int]:
    """What the HTML standard's algorithm would have to work through, as upper bounds.

    Returns:
        The depth of nesting (time goes by its square), and how often open formatting elements are
        opened anew (each of them in each new block).
    """
    depth = deepest = formatting = copies = 0
    for match in _TAG.finditer(html):
        tag = match[2].lower()
        step = -1 if match[1] else 1
        if tag in _FORMATTING:
            formatting = max(formatting + step, 0)
        elif step > 0:
            copies += formatting
        if tag not in _NEVER_NESTED:
            depth = max(depth + step, 0)
            deepest = max(deepest, depth)
    return deepest, copies


def _with_few_attributes(match: re.Match[str]) -> str:
    # Each attribute is compared with all before it.
    return match[0] if len(match[0].split()) <= _MAX_ATTRIBUTES else f"<{match[1]} "


def _walked(parser: LexborHTMLParser, file: str, link: str | None) -> Sections:
    body = parser.body or parser.root
    sections = Sections(file)
    if body is None:
        return sections
    HtmlWalk(sections, link).walk(content_root(body))
    if not sections.characters:
        # A page made of nothing but menus and footers: better that than nothing.
        HtmlWalk(sections, link, keep_noise=True).walk(body)
    return sections


def _text_of(parser: LexborHTMLParser, selector: str) -> str:
    node = parser.css_first(selector)
    return " ".join(clean_text(node.text()).split()) if node is not None else ""


def _link(parser: LexborHTMLParser, html: str) -> str | None:
    for selector, attribute in (('link[rel="canonical"]', "href"), ('meta[property="og:url"]', "content")):
        node = parser.css_first(selector)
        found = web_link(node.attributes.get(attribute) or "") if node is not None else None
        if found:
            return found
    saved = _SAVED_FROM.search(html[:2000])
    return web_link(saved[1]) if saved else None


def _metadata(parser: LexborHTMLParser) -> tuple[dict[str, str | int | float | bool], tuple[str, ...]]:
    metadata: dict[str, str | int | float | bool] = {}
    tags: list[str] = []
    root = parser.css_first("html")
    language = (root.attributes.get("lang") or "").strip() if root is not None else ""
    if language:
        metadata["lang"] = language
    for node in parser.css("meta"):
        attributes = node.attributes
        name = (attributes.get("name") or attributes.get("property") or "").lower()
        content = " ".join(clean_text(attributes.get("content") or "").split())
        if not content:
            continue
        if name in ("keywords", "article:tag"):
            tags += [tag.strip() for tag in content.split(",")]
        elif name in _META:
            metadata.setdefault(_META[name], content)
    return metadata, tuple(dict.fromkeys(filter(None, tags)))
