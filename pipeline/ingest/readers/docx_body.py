"""The body of a Word document, element by element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from pipeline.ingest.readers.container import local
from pipeline.ingest.readers.docx_styles import (
    Numbering,
    Styles,
    attribute,
    child,
    number_of,
    outline_level,
)
from pipeline.ingest.readers.docx_text import Note, Spoken, spoken
from pipeline.ingest.readers.sections import Sections
from pipeline.ingest.readers.tables import MAX_COLUMNS, Row, inline_table, table_lines

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["BodyReader"]

_WRAPPERS = frozenset(("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo"))
_MAX_NESTED = 3
_LONG_CELL = 2000


class BodyReader:
    """Turns the children of ``w:body`` into sections.

    Args:
        sections: Where the text goes.
        styles: Tell headings.
        numbering: Makes the automatic numbers; it counts as paragraphs go by.
        notes: Footnotes and endnotes; each follows the paragraph that refers to it.
    """

    def __init__(
        self, sections: Sections, styles: Styles, numbering: Numbering, notes: Mapping[Note, str]
    ) -> None:
        self._sections = sections
        self._styles = styles
        self._numbering = numbering
        self._notes = notes
        self._in_list = False
        self.title = ""

    def read(self, element: Element) -> None:
        """Read a paragraph, a table, or what wraps them."""
        for item in _unwrapped((element,)):
            if local(item.tag) == "p":
                self._paragraph(item)
            elif local(item.tag) == "tbl":
                self._table(item)

    def _paragraph(self, element: Element) -> None:
        said = spoken(element)
        properties = child(element, "pPr")
        style = attribute(child(properties, "pStyle"))
        outlined = outline_level(properties)
        level = self._styles.heading_level(style) if outlined is None else outlined
        mark, depth = self._mark(properties, style) if said.text else ("", 0)
        if self._styles.is_title(style) and said.text and not self.title:
            self.title = " ".join(said.text.split())
            self._sections.heading(1, said.text)
        elif level:
            self._sections.heading(level + bool(self.title), f"{mark} {said.text}")
        else:
            indent = "  " * depth if mark else ""
            text = f"{indent}{mark} {said.text}" if mark else said.text
            self._sections.add(text, tight=bool(mark) and self._in_list)
        if said.text:
            self._in_list = bool(mark) and not level
        self._beside(said)

    def _mark(self, properties: Element | None, style: str) -> tuple[str, int]:
        number = number_of(properties) or self._styles.number(style)
        return (self._numbering.mark(*number), number[1]) if number else ("", 0)

    def _beside(self, said: Spoken) -> None:
        """What stands beside a paragraph: text boxes and notes."""
        for box in said.boxes:
            for element in box:
                self.read(element)
        for note in said.notes:
            self._sections.add(self._notes.get(note, ""))
        self._in_list = self._in_list and not said.boxes and not said.notes

    def _table(self, table: Element) -> None:
        self._in_list = False
        rows = list(_table_rows(table))
        cells = [[cell for cell in _unwrapped(row) if local(cell.tag) == "tc"] for row in rows]
        if max(map(len, cells), default=0) < 2 or any(_is_long(cell) for row in cells for cell in row):
            # A frame around text, or a page laid out by a table: its cells are read one by one.
            for element in (element for row in cells for cell in row for element in cell):
                self.read(element)
            return
        beside: list[Spoken] = []
        lines = [self._row(row, beside, 0) for row in rows]
        headers = sum(1 for row in rows if child(row, "trPr", "tblHeader") is not None)
        self._sections.add_lines(table_lines(lines, headers or None))
        for said in beside:
            self._beside(said)

    def _row(self, row: Element, beside: list[Spoken], level: int) -> Row:
        before = attribute(child(row, "trPr", "gridBefore"))
        line = [""] * min(int(before), MAX_COLUMNS) if before.isdecimal() else []
        for cell in _unwrapped(row):
            if local(cell.tag) != "tc" or len(line) >= MAX_COLUMNS:
                continue
            properties = child(cell, "tcPr")
            across = attribute(child(properties, "gridSpan"))
            merged = child(properties, "vMerge")
            covered = merged is not None and attribute(merged) != "restart"
            line.append("" if covered else self._cell(cell, beside, level))
            if across.isdecimal():
                line += [""] * (min(int(across), MAX_COLUMNS) - 1)
        return line

    def _cell(self, cell: Element, beside: list[Spoken], level: int) -> str:
        parts: list[str] = []
        for element in _unwrapped(cell):
            if local(element.tag) == "p":
                said = spoken(element)
                properties = child(element, "pPr")
                mark, _ = (
                    self._mark(properties, attribute(child(properties, "pStyle"))) if said.text else ("", 0)
                )
                parts.append(f"{mark} {said.text}" if mark and mark != "-" else said.text)
                beside.append(said)
            elif local(element.tag) == "tbl" and level < _MAX_NESTED:
                inner = [self._row(row, beside, level + 1) for row in _table_rows(element)]
                parts.append(inline_table(inner))
        return " ".join(filter(None, parts))


def _unwrapped(elements: Iterable[Element]) -> Iterator[Element]:
    """The elements with content controls, insertions and the like opened."""
    stack = [iter(elements)]
    while stack:
        element = next(stack[-1], None)
        if element is None:
            stack.pop()
        elif local(element.tag) in _WRAPPERS:
            stack.append(iter(element))
        else:
            yield element


def _table_rows(table: Element) -> Iterator[Element]:
    return (row for row in _unwrapped(table) if local(row.tag) == "tr")


def _is_long(cell: Element) -> bool:
    return sum(len(item.text or "") for item in cell.iter() if local(item.tag) == "t") > _LONG_CELL
