"""Questions in a table, as a spreadsheet program saves it: one row a question, several values by «|»."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from pipeline.messages import Phrase
from pipeline.text.normalise import fold

__all__ = ["COLUMNS", "NoHeadingError", "read_table"]

COLUMNS: Mapping[str, str] = {
    "question": "question", "вопрос": "question",
    "files": "files", "file": "files", "файлы": "files", "файл": "files",
    "passages": "passages", "passage": "passages", "фрагменты": "passages", "фрагмент": "passages",
    "answer_any": "answer_any", "answers": "answer_any", "answer": "answer_any",
    "ответы": "answer_any", "ответ": "answer_any",
    "kind": "kind", "вид": "kind",
    "id": "id", "номер": "id",
}  # fmt: skip
"""Heading of a column -> what it holds."""

_LISTS = ("files", "passages", "answer_any")
_DELIMITERS = ";,\t"


class NoHeadingError(Exception):
    """The first row does not name the columns; ``names`` are those it has."""

    def __init__(self, names: str) -> None:
        super().__init__(names)
        self.names = names


def read_table(text: str) -> Iterator[tuple[int, Mapping[str, object] | Phrase]]:
    """Number of each row, as a spreadsheet counts them, and its question or what is wrong with it.

    The delimiter is the one of «;», «,» and tab that the first line has most of.

    Raises:
        NoHeadingError: There is no column of questions, or none that says where the answers are.
    """
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        heading = next(rows, [])
    except csv.Error:
        heading = [first.strip()]
    names = [COLUMNS.get(fold(cell.strip())) for cell in heading]
    if "question" not in names or not {"files", "passages"} & set(names):
        raise NoHeadingError(", ".join(heading))
    return _rows(rows, names)


def _rows(
    rows: Iterator[list[str]], names: Sequence[str | None]
) -> Iterator[tuple[int, Mapping[str, object] | Phrase]]:
    number = 1
    try:
        for number, row in enumerate(rows, start=2):
            if len(row) > len(names):
                yield number, Phrase("questions_cells", {"cells": len(row), "columns": len(names)})
            elif any(cell.strip() for cell in row):
                yield number, _record(row, names)
    except csv.Error as error:
        yield number + 1, Phrase("questions_row", {"detail": str(error)})


def _record(row: Sequence[str], names: Sequence[str | None]) -> dict[str, object]:
    record: dict[str, object] = {}
    for name, cell in zip(names, row, strict=False):
        if name in _LISTS:
            record[name] = [value for part in cell.split("|") if (value := part.strip())]
        elif name is not None:
            record[name] = cell.strip()
    record.setdefault("files", [])
    return record
