"""A result as CSV that a spreadsheet opens rightly and runs nothing of."""

from __future__ import annotations

import csv
import io
import re

from pipeline.sql.runner import ResultTable, Value
from pipeline.types import Language

__all__ = ["csv_bytes"]

_FORMULA = re.compile(r"[\s\x00]*[=+\-@＝＋－＠\t\r|%]")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


def csv_bytes(result: ResultTable, language: Language = "ru") -> bytes:
    """UTF-8 with a mark at its beginning; ``;`` and decimal commas in Russian, ``,`` and points in English.

    A text that a spreadsheet would take for a formula gets an apostrophe before it (CWE-1236).
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=";" if language == "ru" else ",", lineterminator="\r\n")
    writer.writerow([_safe(column) for column in result.columns])
    for row in result.rows:
        writer.writerow([_written(value, language) for value in row])
    return stream.getvalue().encode("utf-8-sig", "replace")


def _written(value: Value, language: Language) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int | float):
        return str(value).replace(".", ",") if language == "ru" else str(value)
    return _safe(value)


def _safe(text: str) -> str:
    text = text.replace("\x00", "")
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
