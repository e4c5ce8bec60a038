"""Dates as people write them: «05.05.2024», «2024-05-05», «5 мая 2024», "May 5th, 2024", «с 1 по 15 июня»."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.text.normalise import fold
from pipeline.text.numerals import last_values, worded_numbers

__all__ = ["WrittenDate", "written_dates"]


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date at ``text[start:end]``; its key is «2024-05-05», or «-05-05» where no year is named."""

    start: int
    end: int
    key: str


_MONTHS = ("янв", "фев", "мар", "апр", "ма[йяе]", "июн", "июл", "авг", "сен", "окт", "ноя", "дек")
_MONTHS_EN = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<{name}>(?:янв|фев|мар|апр|ма[йяе](?!\w)|июн|июл|авг|сен|окт|ноя|дек)[а-яё]*)"
_MONTH_EN = (
    r"(?P<{name}>(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"(?:uary|ruary|ch|il|e|y|ust|t(?:ember)?|ober|ember)?)\b\.?"
)
_ORDINAL_DAY = (
    r"(?:(?:двадцать|тридцать)\s+)?(?:перв|втор|трет|четв[её]рт|пят|шест|седьм|восьм|девят|десят|[а-я]{2,8}надцат"
    r"|двадцат|тридцат)(?:ого|ьего|ое|ье)|(?:twenty-|thirty-)?(?:first|second|third|[a-z]{3,9}th)"
)
_DATE = re.compile(
    r"(?<![\w.])(?:"
    r"(?P<d1>\d{1,2})[./](?P<m1>\d{1,2})[./](?P<y1>\d{4})"
    r"|(?P<y2>\d{4})-(?P<m2>\d{2})-(?P<d2>\d{2})"
    rf"|(?P<d3>\d{{1,2}}|{_ORDINAL_DAY})(?:-?(?:го|ого|е|st|nd|rd|th))?\s+(?:{_MONTH.format(name='m3')}|(?:of\s+)?{_MONTH_EN.format(name='m5')})"
    r"(?:,?\s+(?P<y3>\d{4})(?!\d))?"
    rf"|{_MONTH_EN.format(name='m4')}\s+(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<y4>\d{{4}})(?!\d))?"
    r")(?!\w)",
    re.IGNORECASE,
)
# «с 1 по 15 июня», "June 1 to 15": the other day of a span.
_SPAN_BEFORE = re.compile(
    r"(?<!\d)(?P<day>\d{1,2})(?:-?(?:го|ого|е))?\s*(?:[-–—]|по|до|и|to|and)\s*$", re.IGNORECASE
)


def written_dates(text: str) -> Iterator[WrittenDate]:
    """The dates of a text, days with a month at least."""
    for match in _DATE.finditer(text):
        parts = {name[0]: value for name, value in match.groupdict().items() if value is not None}
        month = parts["m"] if parts["m"].isdigit() else str(_month_number(parts["m"]))
        day = _day_number(parts["d"])
        if day is None or not (1 <= day <= 31 and 1 <= int(month) <= 12):
            continue  # «In June 61 % of the people»
        year = parts.get("y", "")
        yield WrittenDate(match.start(), match.end(), _key(year, month, day))
        if span := _SPAN_BEFORE.search(text, max(0, match.start() - 12), match.start()):
            yield WrittenDate(span.start("day"), span.end("day"), _key(year, month, int(span["day"])))


def _key(year: str, month: str, day: int) -> str:
    return f"{year}-{int(month):02d}-{day:02d}"


def _day_number(written: str) -> int | None:
    """The day of «25», «двадцать пятого» or "fifth"; None for a word that is no day, such as "month"."""
    if written.isdigit():
        return int(written)
    return next((value for _, _, value in worded_numbers(written, last_values())), None)


def _month_number(word: str) -> int:
    folded = fold(word)
    for table in (_MONTHS, _MONTHS_EN):
        for number, start in enumerate(table, 1):
            if re.match(start, folded):
                return number
    raise AssertionError(word)  # the pattern that found it lists the same months
