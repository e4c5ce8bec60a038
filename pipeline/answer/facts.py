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

from pipeline.text.normalise import DASHES, LOOKALIKES, fold
from pipeline.text.numerals import counting_values, number_keys, worded_numbers
from pipeline.text.stems import keyword_terms
from pipeline.text.written_dates import written_dates

__all__ = ["Fact", "Kind", "code_form", "find_facts", "find_times", "name_form"]

Kind = Literal["number", "date", "code", "name"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact at ``text[start:end]``; one of its ``keys`` must occur in a source that holds it."""

    start: int
    end: int
    kind: Kind
    keys: frozenset[str]


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
    for date in written_dates(text):
        yield Fact(date.start, date.end, "date", frozenset((date.key,)))


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
