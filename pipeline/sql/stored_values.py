"""Stored values that a question names, declined or misspelt: «по отделу продаж» is «Отдел продаж».

Words are compared by their stems, and by letters that are wrong where no stem fits. A value is found
when all its words are named, or the one that no other value has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.sql.catalog import Catalog
from pipeline.sql.stored_index import WORD, IndexedValue, StoredIndex, index_of, stem_of

__all__ = ["NamedValue", "StoredValue", "values_in"]

_TYPO = 0.15  # what a wrong letter takes off the score
_PART = 0.2  # and what it takes off that only a part of the value is named
_LEAST_PART = 4  # letters of a word that can stand for the whole value
_LONGEST_PART = 3  # words of a value that a part can stand for; longer ones are sentences
_LONG = 7  # letters of a word that is still known with wrong ones, alone for a longer value
_CANDIDATES = 8


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


@dataclass(frozen=True, slots=True)
class _Word:
    stem: str
    start: int
    end: int


def values_in(question: str, catalog: Catalog) -> tuple[NamedValue, ...]:
    """The stored values that a question names, in its order; longer names win over their parts.

    Args:
        question: As asked.
        catalog: Its categories' values are looked for.
    """
    words = _words(question)
    index = index_of(catalog)
    near = {place: index.near(word.stem) for place, word in enumerate(words)}
    found: dict[tuple[int, ...], list[StoredValue]] = {}
    for value in index.with_any({stem for stems in near.values() for stem in stems}):
        match = _match(value, words, near, index)
        if match is not None:
            places, score = match
            found.setdefault(places, []).append(
                StoredValue(value.table, value.column, value.value, round(score, 3))
            )
    return tuple(_named(question, words, places, found[places]) for places in _best(found))


def _words(question: str) -> list[_Word]:
    return [_Word(stem_of(match.group()), match.start(), match.end()) for match in WORD.finditer(question)]


def _match(
    value: IndexedValue,
    words: Sequence[_Word],
    near: Mapping[int, Mapping[str, int]],
    index: StoredIndex,
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
        is_alone = index.spread[stem] == 1 and len(stem) >= _LEAST_PART
        told = told or (is_alone and words[place].stem not in index.schema)
    if not places or (missing and not (told and len(value.stems) <= _LONGEST_PART)):
        return None
    if missing and typos and max(len(words[place].stem) for place in places) < _LONG:
        return None  # «трубы» is not «грубо» of a longer value
    if max(places) - min(places) > len(value.stems) + 1:
        return None  # words from all over the question
    if len(places) == 1 and words[places[0]].stem in index.schema and (typos or value.is_wider):
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
