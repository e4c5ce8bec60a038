"""Stored values by the stems of their words, and the stems that a misspelt word may be."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pipeline.sql.catalog import Catalog
from pipeline.sql.distances import distance_within, typos_allowed
from pipeline.text.function_words import function_terms
from pipeline.text.normalise import fold
from pipeline.text.stems import keyword_terms

__all__ = ["WORD", "IndexedValue", "StoredIndex", "index_of", "stem_of"]

WORD = re.compile(r"[^\W_]+")
_SHORTEST = 4  # letters of a stem that has other forms, or may be misspelt
_ENDINGS = frozenset({"а", "у", "ы", "е", "ев", "ов", "ин", "ын", "ом", "ым", "ой"})
"""What a stem may have more than another form's: Snowball takes «Иевлев» for a plural, not «Иевлева»."""


@dataclass(frozen=True, slots=True)
class IndexedValue:
    """A stored value; ``is_wider`` says that it has words besides those of ``stems``, which say nothing."""

    table: str
    column: str
    value: str
    stems: tuple[str, ...]
    is_wider: bool


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """The values of all categories of a catalog.

    Attributes:
        values: In the order of the catalog.
        by_stem: Stem -> places of the values that have it.
        spread: Stem -> in how many different values it is.
        schema: Stems of the names of tables and columns, and of their synonyms.
        by_pair: Two letters -> stems that hold them.
    """

    values: tuple[IndexedValue, ...]
    by_stem: Mapping[str, tuple[int, ...]]
    spread: Mapping[str, int]
    schema: frozenset[str]
    by_pair: Mapping[str, tuple[str, ...]]

    def near(self, stem: str) -> dict[str, int]:
        """Stems that a stem of a question may be -> letters that are wrong then."""
        near = dict.fromkeys(_forms(stem) & self.by_stem.keys(), 0)
        most = typos_allowed(stem)
        if not most:
            return near
        pairs = _pairs(stem)
        shared = Counter(other for pair in pairs for other in self.by_pair.get(pair, ()))
        # A wrong letter spoils two pairs, two swapped ones three.
        least = max(1, len(pairs) - 3 * most)
        for other, count in shared.items():
            if count >= least and other not in near and len(other) >= _SHORTEST:
                distance = distance_within(stem, other, min(most, typos_allowed(other)))
                if distance is not None:
                    near[other] = distance
        return near

    def with_any(self, stems: Collection[str]) -> list[IndexedValue]:
        """The values that have at least one of the stems, in order."""
        places = {place for stem in stems for place in self.by_stem[stem]}
        return [self.values[place] for place in sorted(places)]


def index_of(catalog: Catalog) -> StoredIndex:
    """The index of a catalog, made once for all that have its name and fingerprint."""
    return _index_of(_Key(catalog))


def stem_of(word: str) -> str:
    """The stem of one word, as keyword search has it."""
    terms = keyword_terms(word)
    return terms[0] if terms else fold(word)


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
def _index_of(key: _Key) -> StoredIndex:
    tables = key.catalog.tables.values()
    values = tuple(
        IndexedValue(table.name, column.name, value, stems, len(WORD.findall(value)) > len(stems))
        for table in tables
        for column in table.columns
        for value in column.values
        if (stems := _stems(value))
    )
    by_stem: dict[str, list[int]] = defaultdict(list)
    for place, value in enumerate(values):
        for stem in dict.fromkeys(value.stems):
            by_stem[stem].append(place)
    by_pair: dict[str, list[str]] = defaultdict(list)
    for stem in by_stem:
        for pair in _pairs(stem):
            by_pair[pair].append(stem)
    names = [name for table in tables for name in (table.name, *table.synonyms)]
    names += [
        name for table in tables for column in table.columns for name in (column.name, *column.synonyms)
    ]
    return StoredIndex(
        values,
        {stem: tuple(places) for stem, places in by_stem.items()},
        Counter(stem for _, stem in {(value.value, stem) for value in values for stem in value.stems}),
        frozenset(stem for name in names for stem in _stems(name)),
        {pair: tuple(stems) for pair, stems in by_pair.items()},
    )


def _stems(text: str) -> tuple[str, ...]:
    stems = [stem_of(word) for word in WORD.findall(text)]
    return tuple(stem for stem in stems if stem not in function_terms()) or tuple(stems)


def _forms(stem: str) -> set[str]:
    """A stem, and what other forms of its word may have for one."""
    forms = {stem}
    if len(stem) >= _SHORTEST:
        forms |= {stem + ending for ending in _ENDINGS}
    shorter = {stem.removesuffix(ending) for ending in _ENDINGS if stem.endswith(ending)}
    return forms | {form for form in shorter if len(form) >= _SHORTEST}


def _pairs(stem: str) -> set[str]:
    return {stem[place : place + 2] for place in range(len(stem) - 1)}
