"""Facts a reader would copy out of an answer: numbers, dates, codes and «names in quotes».

They are found by their form, so nothing has to be understood; whether a source holds the same fact is
decided on canonical forms: «45 000» and «45000», «5 мая 2024» and «05.05.2024», «УПД-5» with any dash,
«пять» and «5» are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pipeline.answer.numerals import counting_values, last_values, number_keys, ordinal_values
from pipeline.text.normalise import DASHES, LOOKALIKES, fold
from pipeline.text.stems import keyword_terms

__all__ = ["Fact", "FactSource", "find_facts"]

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
_SHORT_YEAR = re.compile(r"(?<!\d)((?:19|20))\d\d/(\d\d)(?!\d)")
# «1) паспорт», «2. Открыть»: the number of an item says nothing.
_ITEM_BEFORE = re.compile(r"(?:^|[\n:;,])\s*$")
_ITEM_AFTER = re.compile(r"\)\s|\.\s+(?=[^\W\d_])")
_TIME = re.compile(r"(?<![\w:.])(\d{1,2}):(\d{2})(?!\w)")
_NUMBER = re.compile(
    r"(?<![\w.,])(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+|\d+(?:,\d{3})+|\d+)(?:[.,]\d+)?(?![\d])"
)
_TOKEN = re.compile(r"(?:--?|[%&@#$])?[^\W_][\w$%]*(?:[.\-/\\:+][\w$%]+)*|_+\w+|`[^`\n]+`")
_QUOTED = re.compile(r"«([^«»\n]{1,120})»|“([^“”\n]{1,120})”|\"([^\"\n]{1,120})\"|„([^„“\n]{1,120})“")
_WORD = re.compile(r"[^\W\d_]+")
# «28-й», «5кг», «21st», «10х»: a number with an ending or a unit, not a code.
_WITH_ENDING = re.compile(r"(\d+(?:[.,]\d+)?)[-\u2010-\u2015]?[a-zа-яё%°]{1,4}", re.IGNORECASE)
_CAMEL = re.compile(r"[a-zа-яё][A-ZА-ЯЁ]")
_DOTTED_NAME = re.compile(r"[A-Za-z_][\w\-]*(?:\.[A-Za-z_][\w\-]*)+")


def find_facts(text: str) -> list[Fact]:
    """Facts of a text in order, not overlapping except that a name may hold others."""
    taken: list[Fact] = []
    for found in (_dates(text), _times(text), _codes(text), _numbers(text), _number_words(text)):
        taken.extend(fact for fact in list(found) if not _overlaps(fact, taken))
    return sorted([*taken, *_names(text)], key=lambda fact: (fact.start, -fact.end))


@dataclass(slots=True)
class FactSource:
    """A source, prepared so that facts can be looked up in it.

    Args:
        text: Everything the source says, its title and headings included.
    """

    text: str
    _folded: str = field(init=False)
    _stems: str = field(init=False)
    _keys: dict[Kind, set[str]] = field(init=False)

    def __post_init__(self) -> None:
        self._folded = _code_form(self.text)
        self._stems = f" {' '.join(keyword_terms(self.text))} "
        self._keys = {"number": set(), "date": set()}
        for fact in find_facts(self.text):
            if fact.kind in self._keys:
                self._keys[fact.kind] |= fact.keys
        # A year, the digits inside a date, time or code, «8.3» of «8.3.14» may be quoted on their own.
        self._keys["number"] |= {key for run in re.findall(r"\d+", self.text) for key in number_keys(run)}
        self._keys["number"] |= set(re.findall(r"\d+\.\d+", self.text))
        self._keys["number"] |= {f"{found[1]}{found[2]}" for found in _SHORT_YEAR.finditer(self.text)}
        self._keys["number"] |= {str(value) for _, _, value in _worded(self.text, last_values())}

    def holds(self, fact: Fact) -> bool:
        """True if the source says the same."""
        if fact.kind == "code":
            return any(_stands_in(key, self._folded) for key in fact.keys)
        if fact.kind == "name":
            return any(f" {key} " in self._stems or key in self._folded for key in fact.keys)
        if fact.kind == "date":
            return any(self._holds_date(key) for key in fact.keys)
        return bool(fact.keys & self._keys["number"])

    def _holds_date(self, key: str) -> bool:
        year, _, day = key.partition("-")
        if key in self._keys["date"] or (not year and any(k.endswith(key) for k in self._keys["date"])):
            return True
        # «5 мая» under a heading that names the year.
        return f"-{day}" in self._keys["date"] and year in self._keys["number"]


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
    return next((value for _, _, value in _worded(written, last_values())), None)


def _month_number(word: str) -> int:
    folded = fold(word)
    for table in (_MONTHS, _MONTHS_EN):
        for number, start in enumerate(table, 1):
            if re.match(start, folded):
                return number
    raise AssertionError(word)  # the pattern that found it lists the same months


def _times(text: str) -> Iterator[Fact]:
    for match in _TIME.finditer(text):
        hour, minute = match.groups()
        yield Fact(match.start(), match.end(), "code", frozenset((f"{hour}:{minute}", f"{hour}.{minute}")))


def _codes(text: str) -> Iterator[Fact]:
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token.startswith("`"):
            yield Fact(match.start(), match.end(), "code", frozenset((_code_form(token.strip("`").strip()),)))
        elif _is_code(token):
            yield Fact(match.start(), match.end(), "code", frozenset((_code_form(token),)))


def _is_code(token: str) -> bool:
    if token.isalpha() and (token.islower() or token[1:].islower()):
        return False  # a plain word, as nearly all are
    if _WITH_ENDING.fullmatch(token):
        return False
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
    for start, end, value in _worded(text, counting_values()):
        yield Fact(start, end, "number", number_keys(str(value), text[end : end + 12]))


def _worded(text: str, values: Mapping[str, int]) -> Iterator[tuple[int, int, int]]:
    """Start, end and value of the numbers in words; ``values`` are the words one may begin with."""
    words = [(match, fold(match.group())) for match in _WORD.finditer(text)]
    position = 0
    while position < len(words):
        match, word = words[position]
        position += 1
        if word not in values:
            continue
        value, end = values[word], match.end()
        # «двадцать пять», «сто двадцать»: smaller numbers right behind add up; nothing follows an ordinal.
        scale = 0 if word in ordinal_values() else value
        while position < len(words):
            following, added = words[position]
            smaller = last_values().get(added)
            gap = text[end : following.start()]
            if smaller is None or smaller >= _step(scale) or gap not in (" ", "-"):
                break
            value, scale, end = value + smaller, 0 if added in ordinal_values() else smaller, following.end()
            position += 1
        yield match.start(), end, value


def _step(value: int) -> int:
    """Numbers below this may follow ``value`` and add to it."""
    return 100 if value >= 100 else 10 if value >= 20 else 0


def _names(text: str) -> Iterator[Fact]:
    for match in _QUOTED.finditer(text):
        name = next(group for group in match.groups() if group is not None)
        stems = " ".join(keyword_terms(name))
        if stems:
            yield Fact(match.start(), match.end(), "name", frozenset((stems, _code_form(name.strip(" .,")))))


def _overlaps(fact: Fact, taken: list[Fact]) -> bool:
    return any(fact.start < other.end and other.start < fact.end for other in taken)


def _code_form(text: str) -> str:
    """Lower case, one kind of dash, Latin look-alikes as Cyrillic, single spaces."""
    return " ".join(fold(text).translate(DASHES).translate(LOOKALIKES).split())


def _stands_in(key: str, text: str) -> bool:
    """True if ``key`` occurs in ``text`` as a whole, not as a part of a longer word."""
    left = r"(?<!\w)" if key[:1].isalnum() else ""
    right = r"(?!\w)" if key[-1:].isalnum() else ""
    return re.search(left + re.escape(key) + right, text) is not None
