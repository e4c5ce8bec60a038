"""Words of time in a question: each day, month, quarter, year or «прошлая неделя» that stands in it."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from pipeline.sql.calendar import Span, Unit, last_units, months_later, unit_span
from pipeline.sql.numerals import COUNT, count_of

__all__ = ["MONTH", "Mark", "marks_in"]

_MONTHS = (
    *(r"январ[ьяюе]м?", r"феврал[ьяюе]м?", r"март(?:а|е|у|ом)?", r"апрел[ьяюе]м?", r"ма(?:й|я|е|ю|ем)"),
    *(r"июн[ьяюе]м?", r"июл[ьяюе]м?", r"август(?:а|е|у|ом)?", r"сентябр[ьяюе]м?", r"октябр[ьяюе]м?"),
    *(r"ноябр[ьяюе]м?", r"декабр[ьяюе]м?"),
)
_ENGLISH = (
    *("jan(?:uary)?", "feb(?:ruary)?", "mar(?:ch)?", "apr(?:il)?", "may", "june?", "july?"),
    *("aug(?:ust)?", "sept?(?:ember)?", "oct(?:ober)?", "nov(?:ember)?", "dec(?:ember)?"),
)
MONTH = "|".join(f"(?:{russian}|{english})" for russian, english in zip(_MONTHS, _ENGLISH, strict=True))
_MONTH_FORMS = [
    re.compile(f"(?:{russian}|{english})") for russian, english in zip(_MONTHS, _ENGLISH, strict=True)
]
_ORDER = {"перв": 1, "втор": 2, "трет": 3, "четв": 4, "firs": 1, "seco": 2, "thir": 3, "four": 4}
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4}

_YEAR_WORD = r"(?:год(?:а|у|ом|ы|ов|ах|ам)?|гг?\b\.?)"
_YEAR = rf"(?P<year>(?:19|20)\d\d)(?!\d)(?:-?(?:й|м|го|ом|ого|е|х))?(?:\s*{_YEAR_WORD})?"
_OF_YEAR = rf"(?:\s*,?\s*(?:of\s+)?{_YEAR})?"
_ORDINAL = (
    r"(?P<order>перв[а-я]{2,3}|втор[а-я]{2,3}|трет[а-я]{2,4}|четв[её]рт[а-я]{2,3}|first|second|third|fourth"
    r"|[1-4](?:-?(?:й|м|го|ом|ого|е|ый|ий|st|nd|rd|th))?|iv|i{1,3})"
)
_BACK = r"(?P<back>позапрошл|прошл|предыдущ|минувш|прошедш|истекш|следующ|будущ|текущ|нынешн|этот\b|эт)[а-я]*"
_UNITS: dict[str, Unit] = {
    "дн": "day", "ден": "day", "сут": "day", "day": "day", "нед": "week", "wee": "week", "мес": "month",
    "mon": "month", "ква": "quarter", "qua": "quarter", "пол": "half", "hal": "half", "год": "year",
    "лет": "year", "yea": "year",
}  # fmt: skip
_UNIT = (
    r"(?P<unit>дн(?:я|ей|и|ям|ями|ях)|день|суток|сутки|недел[а-я]*|месяц[а-я]*|квартал[а-я]*|полугоди[а-я]*"
    r"|год(?:а|у|ом|ы|ов)?|лет)"
)
_UNIT_EN = r"(?P<unit>days?|weeks?|months?|quarters?|years?)"
_STEPS = {"поза": -2, "след": 1, "буду": 1, "теку": 0, "ныне": 0, "этот": 0, "эт": 0}
_SEASONS = {"весн": 3, "лет": 6, "осен": 9, "spring": 3, "summer": 6, "autumn": 9}


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a question that names a time.

    Attributes:
        start: Where it begins in the question.
        end: Where it ends.
        span: Its days, for a given year or none.
        year: The year it names, or None.
        floats: Its days depend on the year that another mark may give it.
        bare: It is a time only beside a preposition or another time: «марта», «2024».
        dative: «по 2024 году» is about the year, «по 2024 год» until its end.
        closed: It has both its ends: «с 5 по 12 марта».
    """

    start: int
    end: int
    span: Callable[[int], Span]
    year: int | None = None
    floats: bool = False
    bare: bool = False
    dative: bool = False
    closed: bool = False


def marks_in(text: str, today: dt.date) -> list[Mark]:
    """All times that a text names, in order, none over another.

    Args:
        text: Folded to small letters with ё = е.
        today: What relative times count from.
    """
    found: list[Mark] = []
    for make in _MAKERS:
        for mark in make(text, today):
            if all(mark.end <= other.start or mark.start >= other.end for other in found):
                found.append(mark)
    return sorted(found, key=lambda mark: mark.start)


def _fixed(match: re.Match[str], span: Span) -> Mark:
    return Mark(*match.span(), lambda _: span, span[0].year)


def _day(year: int, month: int, day: int) -> Span | None:
    try:
        first = dt.date(year, month, day)
    except ValueError:
        return None  # «31 июня» is no day
    return first, first + dt.timedelta(days=1)


_ISO = re.compile(r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b")
_DOTTED = re.compile(r"\b(\d{1,2})[./](\d{1,2})[./]((?:19|20)\d\d|\d\d)\b(?:\s*г(?:ода|\.)?)?")


def _written(text: str, today: dt.date) -> Iterator[Mark]:
    """«2024-03-05», «05.03.2024»."""
    for match in _ISO.finditer(text):
        if span := _day(int(match[1]), int(match[2]), int(match[3])):
            yield _fixed(match, span)
    for match in _DOTTED.finditer(text):
        year = int(match[3]) + (2000 if len(match[3]) == 2 else 0)
        if span := _day(year, int(match[2]), int(match[1])):
            yield _fixed(match, span)
    del today


_DATE = re.compile(
    rf"\b(?:(?P<from>\d{{1,2}})(?:-?го)?\s*(?P<join>по|до|to|[-–—])\s*)?(?P<day>\d{{1,2}})(?:-?го|-?е|th|st|nd|rd)?"
    rf"\s+(?:of\s+)?(?P<month>{MONTH})\b{_OF_YEAR}"
)


def _dates(text: str, today: dt.date) -> Iterator[Mark]:
    """«5 марта 2024 года», «с 5 по 12 марта»."""
    for match in _DATE.finditer(text):
        month, day = _month(match["month"]), int(match["day"])
        first = int(match["from"] or day)
        year = int(match["year"]) if match["year"] else None
        if _day(2024, month, day) is None or _day(2024, month, first) is None or first > day:
            continue
        if (month, day) == (2, 29) and year is None:
            year = _leap_year(today)

        span = partial(_days, month, first, day, match["join"] == "до")
        yield Mark(*match.span(), span, year, year is None, closed=match["from"] is not None)


def _days(month: int, first: int, last: int, until: bool, year: int) -> Span:
    """Days of a month; of 29 February the day before, in a year that has none."""
    low = _day(year, month, first) or _day(year, month, first - 1)
    high = _day(year, month, last) or _day(year, month, last - 1)
    if low is None or high is None:
        raise ValueError((month, first, last))
    return low[0], high[0 if until else 1]


def _first_months(count: int, year: int) -> Span:
    first = dt.date(year, 1, 1)
    return first, months_later(first, count)


def _part(number: int, months: int, year: int) -> Span:
    first = dt.date(year, (number - 1) * months + 1, 1)
    return first, months_later(first, months)


def _season(month: int, year: int) -> Span:
    first = dt.date(year, month, 1)
    return first, months_later(first, 3)


def _whole_year(named: int, _: int) -> Span:
    return unit_span(dt.date(named, 1, 1), "year")


def _leap_year(today: dt.date) -> int:
    """The latest year whose 29 February has come."""
    years = range(today.year, today.year - 9, -1)
    return next((year for year in years if (day := _day(year, 2, 29)) and day[0] <= today), today.year)


_PARTS = re.compile(
    rf"\b{_ORDINAL}\s*-?(?P<part>квартал[а-я]*|полугоди[а-я]*|quarter|half(?:\s+year)?)\b{_OF_YEAR}"
)
_FIRST_MONTHS = re.compile(rf"\bперв[а-я]+\s+(?P<count>{COUNT})\s+месяц[а-я]*{_OF_YEAR}")
_Q = re.compile(rf"\b(?P<part>q)(?P<order>[1-4])\b{_OF_YEAR}")


def _parts(text: str, today: dt.date) -> Iterator[Mark]:
    """«в первом квартале 2024», «второе полугодие»."""
    for match in _FIRST_MONTHS.finditer(text):
        count = count_of(match["count"])
        if 1 <= count <= 12:
            yield _of_year(match, text, today, partial(_first_months, count))
    for match in (*_PARTS.finditer(text), *_Q.finditer(text)):
        word = match["order"]
        number = _ORDER.get(word[:4]) or _ROMAN.get(word) or int(word[0])
        months = 3 if match["part"][0] in "кq" else 6
        if number * months <= 12:
            yield replace(_of_year(match, text, today, partial(_part, number, months)), bare=False)


_MONTHLY = re.compile(rf"\b(?P<month>{MONTH})\b{_OF_YEAR}")
_SEASON = re.compile(rf"\b(?P<season>весной|летом|осенью|spring|summer|autumn)\b{_OF_YEAR}")
_RELATIVE_YEAR = re.compile(rf"\s+{_BACK}\s+года\b")


def _months(text: str, today: dt.date) -> Iterator[Mark]:
    """«в марте», «за январь 2024 года», «в мае прошлого года», «летом 2023»."""
    for match in _MONTHLY.finditer(text):
        yield _of_year(match, text, today, partial(_part, _month(match["month"]), 1))
    for match in _SEASON.finditer(text):
        first = next(month for stem, month in _SEASONS.items() if match["season"].startswith(stem))
        yield _of_year(match, text, today, partial(_season, first))


def _of_year(match: re.Match[str], text: str, today: dt.date, span: Callable[[int], Span]) -> Mark:
    start, end = match.span()
    year = int(match["year"]) if match["year"] else None
    if year is None and (relative := _RELATIVE_YEAR.match(text, end)):
        year, end = today.year + _steps(relative["back"]), relative.end()
    dative = "month" in match.groupdict() and match["month"].endswith(("ю", "у"))
    return Mark(start, end, span, year, year is None, bare=year is None, dative=dative)


_YEARLY = re.compile(rf"\b{_YEAR}\b")
_SHORT_YEAR = re.compile(r"\b(?:в|за)\s+(?P<year>[0-4]\d)(?:-?[омй]{1,2})?\s+году?\b")


def _years(text: str, today: dt.date) -> Iterator[Mark]:
    """«в 2024 году», «2023»."""
    for match in _YEARLY.finditer(text):
        year = int(match["year"])
        bare = match.end() == match.end("year")
        dative = match[0].endswith("году")
        yield Mark(*match.span(), partial(_whole_year, year), year, bare=bare, dative=dative)
    for match in _SHORT_YEAR.finditer(text):
        yield _fixed(match, unit_span(dt.date(2000 + int(match["year"]), 1, 1), "year"))
    del today


_LAST = re.compile(
    rf"\b(?:(?P<before>{COUNT})\s+)?(?:последн[а-я]+|прошедш[а-я]+|прошлы[ехм]|минувш[а-я]+)\s+"
    rf"(?:(?P<count>{COUNT})\s+)?{_UNIT}\b"
)
_LAST_EN = re.compile(rf"\b(?P<before>)(?:last|past)\s+(?P<count>{COUNT})\s+{_UNIT_EN}\b")
_HALF_YEAR = re.compile(r"\b(?:последн[а-я]+\s+|прошедш[а-я]+\s+)?полгода\b")
_NEIGHBOUR = re.compile(rf"\b{_BACK}\s+{_UNIT}\b")
_NEIGHBOUR_EN = re.compile(rf"\b(?P<back>last|previous|this|current|next)\s+{_UNIT_EN}\b")
_SO_FAR = re.compile(
    r"\bс\s+начала\s+(?:эт[а-я]+\s+|текущ[а-я]+\s+)?(?P<unit>недели|месяца|квартала|полугодия|года)\b"
)
_TO_DATE = re.compile(r"\b(?P<unit>week|month|quarter|year)[ -]to[ -]date\b")
_NEAR = re.compile(r"\b(позавчера|вчера|сегодня|завтра|yesterday|today|tomorrow)(?:шн[а-я]+)?\b")
_DAYS_AGO = re.compile(rf"\b(?P<count>{COUNT})\s+(?:дн[а-я]+|день|days?)\s+(?:назад|ago)\b")
_NEAR_DAYS = {
    "позавчера": -2,
    "вчера": -1,
    "сегодня": 0,
    "завтра": 1,
    "yesterday": -1,
    "today": 0,
    "tomorrow": 1,
}
_STEPS_EN = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1}


def _relative(text: str, today: dt.date) -> Iterator[Mark]:
    """«за последние 30 дней», «на прошлой неделе», «с начала года», «вчера», «3 дня назад»."""
    for match in (*_LAST.finditer(text), *_LAST_EN.finditer(text)):
        count = match["count"] or match["before"]
        if count or not match[0].startswith("прошлы"):
            yield _fixed(match, last_units(today, _unit(match["unit"]), count_of(count or "1")))
    for match in _HALF_YEAR.finditer(text):
        yield _fixed(match, last_units(today, "month", 6))
    for match in (*_SO_FAR.finditer(text), *_TO_DATE.finditer(text)):
        yield _fixed(match, _until(unit_span(today, _unit(match["unit"]))[0], today))
    for match in (*_NEIGHBOUR.finditer(text), *_NEIGHBOUR_EN.finditer(text)):
        # «прошлые годы» are not one
        if not match[0].split()[0].endswith(("ые", "ых", "ие", "их", "ти", "тих")):
            yield _fixed(match, unit_span(today, _unit(match["unit"]), _steps(match["back"])))
    yield from _near_days(text, today)


def _near_days(text: str, today: dt.date) -> Iterator[Mark]:
    for match in _NEAR.finditer(text):
        yield _fixed(match, unit_span(today, "day", _NEAR_DAYS[match[1]]))
    for match in _DAYS_AGO.finditer(text):
        yield _fixed(match, unit_span(today, "day", -min(count_of(match["count"]), 36_500)))


def _until(first: dt.date, today: dt.date) -> Span:
    return first, today + dt.timedelta(days=1)


def _steps(back: str) -> int:
    return _STEPS_EN.get(back, _STEPS.get(back[:4], -1))


def _unit(word: str) -> Unit:
    return _UNITS.get(word[:3]) or _UNITS[word[:2]]


def _month(word: str) -> int:
    return next(number for number, form in enumerate(_MONTH_FORMS, start=1) if form.fullmatch(word))


_MAKERS = (_written, _dates, _parts, _months, _relative, _years)
