"""Of what date a document is, as far as it says so itself."""

from __future__ import annotations

import re
from calendar import monthrange

from pipeline.text.normalise import fold
from pipeline.text.written_dates import written_dates
from pipeline.types import Document

__all__ = ["document_day", "first_day", "last_day", "latest_date", "stated_date"]

_KEYS = (
    *("updated", "modified", "last_modified", "lastmod", "изменено", "изменён", "обновлено", "обновлён"),
    *("date", "дата", "effective", "действует с", "published", "created", "создано", "version_date"),
)
_ISO = re.compile(r"(?<!\d)((?:19|20)\d\d)[-._]?(0[1-9]|1[0-2])(?:[-._]?(0[1-9]|[12]\d|3[01]))?(?!\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(0?[1-9]|[12]\d|3[01])[-._](0?[1-9]|1[0-2])[-._]((?:19|20)\d\d)(?!\d)")
_YEAR = re.compile(r"(?<![\d.])((?:19|20)\d\d)(?![\d])")


def latest_date(text: str) -> str:
    """The latest ISO date a short text names, whole or in part; a year alone where there is nothing finer."""
    found = [f"{m[1]}-{m[2]}" + (f"-{m[3]}" if m[3] else "") for m in _ISO.finditer(text)]
    found += [f"{m[3]}-{int(m[2]):02d}-{int(m[1]):02d}" for m in _DAY_FIRST.finditer(text)]
    found += [date.key for date in written_dates(text) if date.key[0].isdigit()]
    return max(found or _YEAR.findall(text), default="")


def stated_date(document: Document) -> str:
    """The date in a document's metadata, else in the name of its file; ISO, whole or in part, or empty."""
    said = {fold(str(key)): str(value) for key, value in document.metadata.items()}
    for key in _KEYS:
        if date := latest_date(said.get(fold(key), "")):
            return date
    return latest_date(document.file.rsplit("/", 1)[-1])


def document_day(document: Document) -> str:
    """The day that ``since`` and ``until`` of a filter are held against: ``2024-03-05``, or empty.

    Of a date in part it is the first day.
    """
    return first_day(stated_date(document))


def first_day(date: str) -> str:
    """The first day of an ISO date, whole or in part; empty for one that is none."""
    year, month, day = _parts(date)
    return f"{year:04d}-{month or 1:02d}-{day or 1:02d}" if year else ""


def last_day(date: str) -> str:
    """The last day of an ISO date, whole or in part; empty for one that is none."""
    year, month, day = _parts(date)
    if not year:
        return ""
    month = month or 12
    return f"{year:04d}-{month:02d}-{day or monthrange(year, month)[1]:02d}"


def _parts(date: str) -> tuple[int, int, int]:
    """Year, month and day, 0 for what is missing; the day never beyond the month's end."""
    match = re.fullmatch(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", date)
    if match is None:
        return 0, 0, 0
    year, month, day = (int(part or 0) for part in match.groups())
    if not year or month > 12:
        return 0, 0, 0
    return year, month, min(day, monthrange(year, month)[1]) if month else 0
