"""Stored values that a question names, declined or misspelt: «по отделу продаж» is «Отдел продаж».

Words are compared by their stems, and by letters that are wrong where no stem fits. A value is found
when all its words are named, or the one that no other value has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipeline.sql.catalog import Catalog
from pipeline.sql.distances import distance_within, typos_allowed
from pipeline.text.function_words import function_terms
from pipeline.text.normalise import fold
from pipeline.text.stems import keyword_terms

__all__ = ["NamedValue", "StoredValue", "values_in"]

_WORD = re.compile(r"[^\W_]+")
_TYPO = 0.15  # what a wrong letter takes off the score
_PART = 0.2  # and what it takes off that only a part of the value is named
_LEAST_PART = 4  # letters of a word that can stand for the whole value
_LONGEST_PART = 3  # words of a value that a part can stand for; longer ones are sentences
_LONG = 7  # letters of a word that is still known with wrong ones, alone for a longer value
_CANDIDATES = 8
_ENDINGS = frozenset({"а", "у", "ы", "е", "ев", "ов", "ин", "ын", "ом", "ым", "ой"})
"""What a stem may have more than another form's: Snowball takes «Иевлев» for a plural, not «Иевлева»."""


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A value of a category; ``score`` is 1 where each of its words is named rightly."""

    table: str
    column: str
    value: str
    score: float


@dataclass(frozen=True, slots=True)
class NamedValue:
    """Words of a question with the stored values that they may mean, best first.

    Attributes:
        said: The words as asked.
        start: Where they begin in the question.
        end: Where they end.
    """

    said: str
    start: int
    end: int
    candidates: tuple[StoredValue, ...]

    @property
    def is_ambiguous(self) -> bool:
        """True where the best candidates are different values, or stand in different columns."""
        best = [item for item in self.candidates if item.score >= self.candidates[0].score - 0.01]
        return len({(item.table, item.column, item.value) for item in best}) > 1

    @property
    def is_exact(self) -> bool:
        """True where the best candidate is named in full and without a wrong letter."""
        return self.candidates[0].score >= 1


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    stem: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Value:
    table: str
    column: str
    value: str
    stems: tuple[str, ...]
    is_wider: bool


def values_in(question: str, catalog: Catalog) -> tuple[NamedValue, ...]:
    """The stored values that a question names, in its order; longer names win over their parts.

    Args:
        question: As asked.
        catalog: Its categories' values are looked for.
    """
    words = _words(question)
    found: dict[tuple[int, ...], list[StoredValue]] = {}
    values, alone, schema = _known(_Key(catalog))
    near = {place: _near(word.stem, alone) for place, word in enumerate(words)}
    for value in values:
        match = _match(value, words, near, alone, schema)
        if match is not None:
            places, score = match
            found.setdefault(places, []).append(
                StoredValue(value.table, value.column, value.value, round(score, 3))
            )
    return tuple(_named(question, words, places, found[places]) for places in _best(found))


class _Key:
    """A catalog, equal to others with its fingerprint."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._mark = (catalog.name, catalog.fingerprint or repr(catalog))

    def __hash__(self) -> int:
        return hash(self._mark)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._mark == other._mark


@lru_cache(maxsize=16)
def _known(key: _Key) -> tuple[tuple[_Value, ...], Mapping[str, int], frozenset[str]]:
    """All values, how many different values each stem is in, and the stems that name tables and columns."""
    values = tuple(
        _Value(table.name, column.name, value, stems, len(_WORD.findall(value)) > len(stems))
        for table in key.catalog.tables.values()
        for column in table.columns
        for value in column.values
        if (stems := _stems(value))
    )
    different = {(value.value, stem) for value in values for stem in value.stems}
    names = [
        *(name for table in key.catalog.tables.values() for name in (table.name, *table.synonyms)),
        *(
            name
            for table in key.catalog.tables.values()
            for column in table.columns
            for name in (column.name, *column.synonyms)
        ),
    ]
    schema = frozenset(stem for name in names for stem in _stems(name))
    return values, Counter(stem for _, stem in different), schema


def _stems(text: str) -> tuple[str, ...]:
    stems = [_stem(word) for word in _WORD.findall(text)]
    return tuple(stem for stem in stems if stem not in function_terms()) or tuple(stems)


def _stem(word: str) -> str:
    terms = keyword_terms(word)
    return terms[0] if terms else fold(word)


def _words(question: str) -> list[_Word]:
    return [
        _Word(match.group(), _stem(match.group()), match.start(), match.end())
        for match in _WORD.finditer(question)
    ]


def _near(stem: str, known: Iterable[str]) -> dict[str, int]:
    """Known stems that a stem of the question may be -> wrong letters."""
    most = typos_allowed(stem)
    pairs = {stem[place : place + 2] for place in range(len(stem) - 1)}
    near: dict[str, int] = {}
    for other in known:
        if other == stem or _is_form(stem, other):
            near[other] = 0
        elif most and len(other) > 3 and any(pair in other for pair in pairs):
            distance = distance_within(stem, other, min(most, typos_allowed(other)))
            if distance is not None:
                near[other] = distance
    return near


def _is_form(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    return len(short) >= _LEAST_PART and long.startswith(short) and long[len(short) :] in _ENDINGS


def _match(
    value: _Value,
    words: Sequence[_Word],
    near: Mapping[int, Mapping[str, int]],
    alone: Mapping[str, int],
    schema: frozenset[str],
) -> tuple[tuple[int, ...], float] | None:
    """The places of the words that name a value, and how well they do."""
    places: list[int] = []
    typos = 0
    missing = 0
    told = False
    for stem in value.stems:
        hits = [(near[place][stem], place) for place in near if stem in near[place] and place not in places]
        if not hits:
            missing += 1
            continue
        wrong, place = min(hits, key=lambda hit: (hit[0], _apart(hit[1], places)))
        typos += wrong
        places.append(place)
        told = told or (alone[stem] == 1 and len(stem) >= _LEAST_PART and words[place].stem not in schema)
    if not places or (missing and not (told and len(value.stems) <= _LONGEST_PART)):
        return None
    if missing and typos and max(len(words[place].stem) for place in places) < _LONG:
        return None  # «трубы» is not «грубо» of a longer value
    if max(places) - min(places) > len(value.stems) + 1:
        return None  # words from all over the question
    if len(places) == 1 and words[places[0]].stem in schema and (typos or value.is_wider):
        return None  # «заказ» is no misspelt value, «товар» is not «не тот товар»
    return tuple(sorted(places)), 1 - _TYPO * typos - (_PART if missing else 0)


def _apart(place: int, others: Sequence[int]) -> int:
    return min((abs(place - other) for other in others), default=0)


def _best(found: Mapping[tuple[int, ...], list[StoredValue]]) -> list[tuple[int, ...]]:
    """Groups of words that do not overlap: more words first, then the better score."""
    order = sorted(
        found, key=lambda places: (-len(places), -max(item.score for item in found[places]), places)
    )
    taken: set[int] = set()
    kept = []
    for places in order:
        if taken.isdisjoint(places):
            taken |= set(places)
            kept.append(places)
    return sorted(kept)


def _named(
    question: str, words: Sequence[_Word], places: tuple[int, ...], candidates: list[StoredValue]
) -> NamedValue:
    start, end = words[places[0]].start, words[places[-1]].end
    ordered = sorted(candidates, key=lambda item: (-item.score, item.table, item.column, item.value))
    return NamedValue(question[start:end], start, end, tuple(ordered[:_CANDIDATES]))
