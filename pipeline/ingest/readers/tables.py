"""Table rows as lines that keep every value beside its header: ``| Должность: Кладовщик | Оклад: 45 000 |``.

A line that opens with ``|`` is never split or joined by `pipeline.text.sentences`, so a row stays
whole. Cells that a merged one covers come empty, so a merged value is said once (case 40).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice

__all__ = ["MAX_COLUMNS", "Row", "inline_table", "row_line", "table_lines"]

Row = Sequence[str]

MAX_COLUMNS = 1024
_LOOK_AHEAD = 20
_LABEL_CHARACTERS = 80
# A number, date, time, share or sum of money: what a header cell is not. A year alone may be one.
_VALUE = re.compile(r"[^\w]*\d[\d\s.,:/\\+\-–—%°№xх*]*(?:[^\W\d]{1,4}\.?)?[^\w]*$")
_YEAR = re.compile(r"(?:19|20)\d\d(?: ?г\.?)?$")


@dataclass(frozen=True, slots=True)
class _Head:
    """The top of a table: lines before it, rows of the header itself, and a label a column."""

    captions: int = 0
    rows: int = 0
    labels: tuple[str, ...] = ()


def table_lines(rows: Iterable[Row], header_rows: int | None = None) -> Iterator[str]:
    """Lines of a table; the parts of a sheet between empty rows are tables of their own.

    Args:
        rows: Cells as text; rows may differ in length. They are read once, a few rows ahead.
        header_rows: How many of the first rows are headers, if the file says so; else it is guessed.
    """
    labels: tuple[str, ...] = ()
    for empty, group in groupby(rows, key=_is_empty):
        if empty:
            continue
        ahead = [_cleaned(row) for row in islice(group, _LOOK_AHEAD)]
        head = _guessed(ahead) if header_rows is None else _given(ahead, header_rows)
        header_rows = None
        if not head.rows and max(map(_filled, ahead)) > 1:
            head = _Head(0, 0, labels)  # a table cut by an empty row goes on
        labels = head.labels
        yield from (" ".join(filter(None, row)) for row in ahead[: head.captions])
        header = ahead[head.captions : head.captions + head.rows]
        body = chain(ahead[head.captions + head.rows :], map(_cleaned, group))
        if any(len(label) > _LABEL_CHARACTERS for row in header for label in row):
            yield from (row_line(row) for row in header)
        for row in body:
            if row not in header:  # repeated at a page break
                yield row_line(row, labels)


def row_line(row: Row, labels: Row = ()) -> str:
    """One row as a line; an only cell of a wide row heads the rows below and goes without its label."""
    alone = len(labels) > 2 and _filled(row) == 1
    cells: list[str] = []
    for column, value in enumerate(row):
        if value:
            label = labels[column] if column < len(labels) and not alone else ""
            if not label and cells and cells[-1].endswith(":"):
                cells[-1] += f" {value}"  # a form: «Телефон:» and its number in two cells
            else:
                cells.append(f"{label}: {value}" if label and label != value else value)
    return f"| {' | '.join(cells)} |"


def inline_table(rows: Iterable[Row], header_rows: int | None = None) -> str:
    """A table inside a cell as a part of its text: ``Должность: Кладовщик, Оклад: 45 000; …``."""
    return "; ".join(line.strip("| ").replace(" | ", ", ") for line in table_lines(rows, header_rows))


def _cleaned(row: Row) -> list[str]:
    return [" ".join(cell.split()) for cell in row[:MAX_COLUMNS]]


def _is_empty(row: Row) -> bool:
    return not any(cell and not cell.isspace() for cell in row)


def _filled(row: Row) -> int:
    return sum(1 for cell in row if cell)


def _given(rows: Sequence[Row], count: int) -> _Head:
    count = min(count, len(rows) - 1)  # a header alone is the table's only content
    return _Head(0, count, _labels(rows[:count])) if count > 0 else _Head()


def _guessed(rows: Sequence[Row]) -> _Head:
    """The header a reader would see: the first full row, if it names columns rather than fills them."""
    width = max(map(_filled, rows))
    captions = next((n for n, row in enumerate(rows) if _filled(row) > 1), 0)
    rest = rows[captions:]
    if width < 2 or len(rest) < 2 or rest[0] == rest[1] or not _names_columns(rest[0], width):
        return _Head()
    if _gaps(rest[0], rest[1]) and len(rest) > 2 and not _are_values(rest[1]):
        return _Head(captions, 2, _labels(rest[:2]))
    if _are_pairs(rest):
        return _Head()
    return _Head(captions, 1, _labels(rest[:1]))


def _names_columns(row: Row, width: int) -> bool:
    names = [cell for cell in row if cell]
    return (
        2 * len(names) > width
        and len({name.casefold() for name in names}) == len(names)
        and all(len(name) <= 2 * _LABEL_CHARACTERS and not _is_value(name) for name in names)
        and not all(_YEAR.match(name) for name in names)
    )


def _is_value(cell: str) -> bool:
    return _VALUE.match(cell) is not None and _YEAR.match(cell) is None


def _are_values(row: Row) -> bool:
    return any(_is_value(cell) for cell in row)


def _are_pairs(rows: Sequence[Row]) -> bool:
    """True for a form: a label with a colon in the first column, its value in the second."""
    first = [row[0] for row in rows if row and row[0]]
    return 2 * sum(cell.endswith(":") for cell in first) > len(first) > 0


def _gaps(upper: Row, lower: Row) -> bool:
    """True if the lower row names the columns that merged cells of the upper one span."""
    above = {column for column, cell in enumerate(upper) if cell}
    named = {column for column, cell in enumerate(lower) if cell}
    covered = set(range(1, max(len(upper), len(lower)))) - above
    spanning = {column - 1 for column in covered}
    return bool(covered) and covered <= named <= covered | spanning


def _labels(rows: Sequence[Row]) -> tuple[str, ...]:
    """One label a column: the names above it, a name over several columns before each of theirs."""
    width = max(map(len, rows))
    labels = []
    above = ""
    for column in range(width):
        names = [row[column] if column < len(row) else "" for row in rows]
        if len(names) > 1:
            above = names[0] or (above if any(names[1:]) else "")
            names[0] = above
        label = ", ".join(dict.fromkeys(filter(None, names))).rstrip(": ")
        labels.append(label if len(label) <= _LABEL_CHARACTERS else label[:_LABEL_CHARACTERS].rstrip() + "…")
    return tuple(labels)
