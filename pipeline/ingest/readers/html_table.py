"""Tables of a page as rows of cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipeline.ingest.readers.html_noise import ALWAYS_DROPPED, BLOCK_TAGS, is_hidden
from pipeline.ingest.readers.tables import MAX_COLUMNS, Row, inline_table

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

__all__ = ["children", "is_layout", "table_rows"]

_MAX_SPAN = 100
_MAX_ROWS_DOWN = 10_000
_CELL_OF_LAYOUT = 2000
_MAX_NESTED = 3


def is_layout(table: LexborNode) -> bool:
    """True for a table that only places parts of a page: its cells are read as a page is."""
    if (table.attributes.get("role") or "") in ("presentation", "none"):
        return True
    if any(True for _ in _own(table, "th")):
        return False
    if table.css_first("h1, h2, h3, h4, article, section, nav") is not None:
        return True
    rows = [list(_own(row, "td")) for row in _own(table, "tr")]
    widest = max(map(len, rows), default=0)
    return widest < 2 or any(len(cell.text()) > _CELL_OF_LAYOUT for row in rows for cell in row)


def table_rows(table: LexborNode, level: int = 0) -> tuple[str, list[Row], int | None]:
    """Caption, rows and the number of header rows if the page marks any, else None.

    A cell over several columns or rows is there once, in its first place; the others are empty.
    A nested table is part of its cell's text.
    """
    caption = next(_own(table, "caption"), None)
    rows: list[Row] = []
    covered: dict[int, int] = {}  # column -> how many rows below a cell above still covers
    header = 0
    for row in _own(table, "tr"):
        cells = list(_own(row, "td", "th"))
        in_head = row.parent is not None and row.parent.tag == "thead"
        if header == len(rows) and (in_head or (cells and all(cell.tag == "th" for cell in cells))):
            header += 1
        rows.append(_line(cells, covered, level))
    return (_flat(caption, level) if caption is not None else ""), rows, header or None


def children(node: LexborNode) -> list[LexborNode]:
    """Child nodes in order, texts and comments too."""
    found = []
    child = node.child
    while child is not None:
        found.append(child)
        child = child.next
    return found


def _own(node: LexborNode, *tags: str) -> Iterator[LexborNode]:
    """Descendants of these tags that belong to no table inside ``node`` and to none of each other."""
    stack = children(node)[::-1]
    while stack:
        found = stack.pop()
        if found.tag in tags:
            yield found
        elif found.tag != "table":
            stack += children(found)[::-1]


def _line(cells: list[LexborNode], covered: dict[int, int], level: int) -> Row:
    line: list[str] = []
    taken = {column for column, rows in covered.items() if rows > 0}
    for column in taken:
        covered[column] -= 1
    for cell in cells:
        while len(line) in taken:
            line.append("")
        across, down = _span(cell, "colspan", _MAX_SPAN), _span(cell, "rowspan", _MAX_ROWS_DOWN)
        if len(line) + across > MAX_COLUMNS:
            break
        if down > 1:
            covered.update(dict.fromkeys(range(len(line), len(line) + across), down - 1))
        line += [_flat(cell, level), *[""] * (across - 1)]
    return line


def _span(cell: LexborNode, name: str, limit: int) -> int:
    value = (cell.attributes.get(name) or "1").strip()
    return min(max(int(value), 1), limit) if value.isascii() and value.isdecimal() and len(value) < 9 else 1


def _flat(cell: LexborNode, level: int) -> str:
    """A cell's text on one line, its blocks separated by a space."""
    parts: list[str] = []
    stack: list[LexborNode | None] = [*children(cell)[::-1]]
    while stack:
        node = stack.pop()
        tag = (node.tag or "") if node is not None else ""
        if node is None:  # the end of a block
            parts.append(" ")
        elif tag == "-text":
            parts.append(node.text_content or "")
        elif tag in ALWAYS_DROPPED or tag.startswith("-") or is_hidden(node):
            continue
        elif tag == "table" and level < _MAX_NESTED:
            _, rows, header_rows = table_rows(node, level + 1)
            parts.append(f" {inline_table(rows, header_rows)} ")
        else:
            if tag in BLOCK_TAGS or tag == "br":
                parts.append(" ")
                stack.append(None)
            stack += children(node)[::-1]
    return " ".join("".join(parts).split())
