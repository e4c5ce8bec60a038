"""A walk over the elements of a page that gathers its text and passes over its noise.

No recursion: pages are as deep as their authors like.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pipeline.ingest.readers.html_noise import ALWAYS_DROPPED, BLOCK_TAGS, is_hidden, is_noise
from pipeline.ingest.readers.html_table import children, is_layout, table_rows
from pipeline.ingest.readers.sections import Sections
from pipeline.ingest.readers.tables import table_lines

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

__all__ = ["HtmlWalk", "content_root"]

_SPACES = re.compile(r"[ \t\n\r\f]+")
_SPACES_ONLY = re.compile(r" {2,}")
_AROUND_BREAK = re.compile(r" *\n *")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_MAIN_AT_LEAST = 200


def content_root(body: LexborNode) -> LexborNode:
    """The element that holds the page's own content: its only ``main``, if that is not a mere shell."""
    found = body.css('main, [role="main"]')
    if len(found) == 1:
        inside = len(found[0].text())
        if inside >= _MAIN_AT_LEAST or 10 * inside >= len(body.text()):
            return found[0]
    return body


class HtmlWalk:
    """One walk; the text goes to ``sections``.

    Args:
        sections: Where headings and paragraphs go.
        link: The page's own address; headings with an id get an address from it.
        keep_noise: Leave out only what is never shown.
    """

    def __init__(self, sections: Sections, link: str | None, keep_noise: bool = False) -> None:
        self._sections = sections
        self._link = link
        self._keep_noise = keep_noise
        self._inline: list[str] = []
        self._lists: list[int | None] = []  # the next number of each open list, None for bullets
        self._listed = False  # the paragraph before is of the same list
        self._prefix = ""
        self._term = ""

    def walk(self, root: LexborNode) -> None:
        """Gather the text of an element."""
        stack: list[tuple[LexborNode, bool]] = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            tag = node.tag or ""
            if leaving:
                self._leave(node, tag)
            elif tag == "-text":
                self._inline.append(_SPACES.sub(" ", node.text_content or ""))
            elif self._enter(node, tag):
                stack.append((node, True))
                stack += [(child, False) for child in reversed(children(node))]
        self._flush()

    def _enter(self, node: LexborNode, tag: str) -> bool:
        """Open an element; False if it is done with or to be passed over."""
        if tag in ALWAYS_DROPPED or tag.startswith("-") or is_hidden(node):
            return False
        if not self._keep_noise and is_noise(node, tag):
            return False
        if tag == "br":
            self._inline.append("\n")
            return False
        if tag in BLOCK_TAGS:
            self._flush()
        if tag == "pre":
            self._preformatted(node)
            return False
        if tag == "table" and not is_layout(node):
            self._table(node)
            return False
        self._open_list(node, tag)
        return True

    def _open_list(self, node: LexborNode, tag: str) -> None:
        if tag in ("ul", "menu"):
            self._lists.append(None)
        elif tag == "ol":
            start = node.attributes.get("start") or "1"
            self._lists.append(int(start) if start.isdecimal() and len(start) < 6 else 1)
        elif tag == "li":
            number = self._lists[-1] if self._lists else None
            if number is not None:
                self._lists[-1] = number + 1
            mark = "-" if number is None else f"{number}."
            self._prefix = f"{'  ' * (len(self._lists) - 1)}{mark} "
        elif tag == "dd" and self._term:
            self._inline.append(f"{self._term}: ")
            self._term = ""

    def _leave(self, node: LexborNode, tag: str) -> None:
        level = _HEADINGS.get(tag, 0)
        if level:
            self._heading(node, level)
        elif tag == "dt":
            self._flush_term()
            self._term = self._taken()
        elif tag in BLOCK_TAGS:
            self._flush()
        if tag in ("ul", "ol", "menu") and self._lists:
            self._lists.pop()
            self._listed = self._listed and bool(self._lists)
        if tag == "dl":
            self._flush_term()
        if tag == "li":
            self._prefix = ""

    def _heading(self, node: LexborNode, level: int) -> None:
        text = self._taken()
        anchor = _anchor(node)
        link = f"{self._link.partition('#')[0]}#{anchor}" if self._link and anchor else None
        if self._lists or self._prefix:
            self._inline.append(text)  # a heading inside a list item is its text
            self._flush()
        else:
            self._sections.heading(level, text, link)

    def _taken(self) -> str:
        text = _AROUND_BREAK.sub("\n", _SPACES_ONLY.sub(" ", "".join(self._inline))).strip()
        self._inline.clear()
        return text

    def _flush(self) -> None:
        if not self._inline:
            return
        text = self._taken()
        if text:
            self._flush_term()
            self._sections.add(self._prefix + text, tight=self._listed)
            self._listed = bool(self._lists)
            self._prefix = " " * len(self._prefix) if self._lists else ""

    def _flush_term(self) -> None:
        term, self._term = self._term, ""
        if term:
            self._sections.add(term)

    def _preformatted(self, node: LexborNode) -> None:
        # Fenced as in Markdown, so that lines of code are never joined.
        code = node.text().strip("\n")
        if code.strip():
            fence = "````" if "```" in code else "```"
            self._sections.add(f"{fence}\n{code}\n{fence}")

    def _table(self, node: LexborNode) -> None:
        caption, rows, header_rows = table_rows(node)
        self._sections.add(caption)
        self._sections.add_lines(table_lines(rows, header_rows), tight=bool(caption))
        self._listed = False


def _anchor(node: LexborNode) -> str:
    """The id that leads to a heading: its own, of an anchor inside it, or of the section it opens."""
    parent = node.parent
    candidates = [node, *node.css("a[id], a[name]")[:1]]
    if parent is not None and parent.tag in ("section", "article", "div") and _opens(parent, node):
        candidates.append(parent)
    for candidate in candidates:
        attributes = candidate.attributes
        anchor = (attributes.get("id") or attributes.get("name") or "").strip()
        if anchor and not any(character.isspace() for character in anchor):
            return anchor
    return ""


def _opens(parent: LexborNode, node: LexborNode) -> bool:
    first = next((child for child in children(parent) if not (child.tag or "-").startswith("-")), None)
    return first is not None and first.mem_id == node.mem_id
