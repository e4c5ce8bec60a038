"""Facts a reader would copy out of an answer: numbers, dates, codes and «names in quotes».

They are found by their form, so nothing has to be understood; whether a source holds the same fact is
decided on canonical forms: «45 000» and «45000», «5 мая 2024» and «05.05.2024», «УПД-5» with any dash,
«пять» and «5» are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pipeline.answer.numerals import counting_values, last_values, number_keys, worded_numbers
from pipeline.text.normalise import DASHES, LOOKALIKES, fold
from pipeline.text.stems import keyword_terms

__all__ = ["Fact", "Kind", "code_form", "find_facts", "find_times", "name_form"]

Kind = Literal["number", "date", "code", "name"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact at ``text[start:end]``; one of its ``keys`` must occur in a source that holds it."""

    start: int
    end: int
    kind: Kind
    keys: frozenset[str]


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
# «1) паспорт», «2. Открыть»: the number of an item says nothing.
_ITEM_BEFORE = re.compile(r"(?:^|[\n:;,])\s*$")
_ITEM_AFTER = re.compile(r"\)\s|\.\s+(?=[^\W\d_])")
_TIME = re.compile(r"(?<![\w:.])(\d{1,2}):(\d{2})(?!\w)")
_HALF_DAY = re.compile(
    r"(?<![\w:.])(?P<hour>1[0-2]|0?[1-9])(?::(?P<minute>[0-5]\d))?\s?(?P<half>[ap])\.?m\b\.?", re.IGNORECASE
)
_NUMBER = re.compile(
    r"(?<![\w.,])(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+|\d+(?:,\d{3})+|\d+)(?:[.,]\d+)?(?![\d])"
)
_TOKEN = re.compile(r"(?:--?|[%&@#$])?[^\W_][\w$%]*(?:[.\-/\\:+][\w$%]+)*|_+\w+|`[^`\n]+`")
_QUOTED = re.compile(r"«([^«»\n]{1,120})»|“([^“”\n]{1,120})”|\"([^\"\n]{1,120})\"|„([^„“\n]{1,120})“")
_WORD = re.compile(r"[^\W\d_]+")
# «28-й», «5кг», «21st», «10х»: a number with an ending or a unit, not a code.
_WITH_ENDING = re.compile(
    r"(\d+(?:[.,]\d+)?)(?P<dash>[-\u2010-\u2015])?(?P<letters>[a-zа-яё%°]{1,4})", re.IGNORECASE
)
_FLEETING = re.compile(r"(?<=[а-я][бвгджзклмнпрстфхцчшщ])[ео]([бвгджзклмнпрстфхцчшщ])$")
_CAMEL = re.compile(r"[a-zа-яё][A-ZА-ЯЁ]")
_DOTTED_NAME = re.compile(r"[A-Za-z_][\w\-]*(?:\.[A-Za-z_][\w\-]*)+")


def find_facts(text: str) -> list[Fact]:
    """Facts of a text in order, not overlapping except that a name may hold others."""
    taken: list[Fact] = []
    for found in (_dates(text), find_times(text), _codes(text), _numbers(text), _number_words(text)):
        taken.extend(fact for fact in list(found) if not _overlaps(fact, taken))
    return sorted([*taken, *_names(text)], key=lambda fact: (fact.start, -fact.end))


def _dates(text: str) -> Iterator[Fact]:
    for match in _DATE.finditer(text):
        parts = {name[0]: value for name, value in match.groupdict().items() if value is not None}
        month = parts["m"] if parts["m"].isdigit() else str(_month_number(parts["m"]))
        day = _day_number(parts["d"])
        if day is None or not (1 <= day <= 31 and 1 <= int(month) <= 12):
            continue  # «In June 61 % of the people»
        year = parts.get("y", "")
        yield Fact(match.start(), match.end(), "date", _date_key(year, month, day))
        if span := _SPAN_BEFORE.search(text, max(0, match.start() - 12), match.start()):
            yield Fact(span.start("day"), span.end("day"), "date", _date_key(year, month, int(span["day"])))


def _date_key(year: str, month: str, day: int) -> frozenset[str]:
    return frozenset((f"{year}-{int(month):02d}-{day:02d}",))


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


def find_times(text: str) -> Iterator[Fact]:
    """Times of the day, as codes."""
    for match in _HALF_DAY.finditer(text):
        later = 12 if match["half"].lower() == "p" else 0
        hour = int(match["hour"]) % 12 + later
        yield Fact(match.start(), match.end(), "code", _time_keys(str(hour), match["minute"] or "00"))
    for match in _TIME.finditer(text):
        yield Fact(match.start(), match.end(), "code", _time_keys(*match.groups()))


def _time_keys(hour: str, minute: str) -> frozenset[str]:
    return frozenset(f"{hour}{point}{minute}" for hour in {hour, f"{int(hour):02d}"} for point in ":.")


def _codes(text: str) -> Iterator[Fact]:
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token.startswith("`"):
            yield Fact(match.start(), match.end(), "code", frozenset((code_form(token.strip("`").strip()),)))
        elif _is_code(token):
            yield Fact(match.start(), match.end(), "code", frozenset((code_form(token),)))


def _is_code(token: str) -> bool:
    if token.isalpha() and (token.islower() or token[1:].islower()):
        return False  # a plain word, as nearly all are
    if (ending := _WITH_ENDING.fullmatch(token)) and not (ending["dash"] and ending["letters"].isupper()):
        return False  # but «17-К» is one
    if any(c.isdigit() for c in token) and any(c.isalpha() for c in token):
        return True
    return bool(
        token.startswith("--")
        or "_" in token
        or _CAMEL.search(token)
        or _DOTTED_NAME.fullmatch(token)
        or re.fullmatch(r"\d+(?:\.\d+){2,}", token)
    )


def _numbers(text: str) -> Iterator[Fact]:
    for match in _NUMBER.finditer(text):
        if _ITEM_AFTER.match(text, match.end()) and _ITEM_BEFORE.search(text, 0, match.start()):
            continue
        keys = number_keys(match.group(), text[match.end() : match.end() + 12])
        yield Fact(match.start(), match.end(), "number", keys)


def _number_words(text: str) -> Iterator[Fact]:
    for start, end, value in worded_numbers(text, counting_values()):
        yield Fact(start, end, "number", number_keys(str(value), text[end : end + 12]))


def _names(text: str) -> Iterator[Fact]:
    for match in _QUOTED.finditer(text):
        name = next(group for group in match.groups() if group is not None)
        stems = name_form(name)
        if stems:
            yield Fact(match.start(), match.end(), "name", frozenset((stems, code_form(name.strip(" .,")))))


def name_form(name: str) -> str:
    """Stems of a name; «ветер» is «ветр» as in its other cases."""
    return " ".join(_FLEETING.sub(r"\1", stem) for stem in keyword_terms(name))


def _overlaps(fact: Fact, taken: list[Fact]) -> bool:
    return any(fact.start < other.end and other.start < fact.end for other in taken)


def code_form(text: str) -> str:
    """Lower case, one kind of dash, Latin look-alikes as Cyrillic, single spaces: how codes are compared."""
    return " ".join(fold(text).translate(DASHES).translate(LOOKALIKES).split())
