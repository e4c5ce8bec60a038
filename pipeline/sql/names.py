"""Words of a schema: what tables and columns are called, as a question may say it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from pipeline.sql.catalog import Column, Table
from pipeline.text.stems import keyword_terms

__all__ = ["called_terms", "column_terms", "in_cyrillic", "name_terms", "table_terms"]

_SOUNDS = (
    *(("shch", "щ"), ("sch", "щ"), ("zh", "ж"), ("kh", "х"), ("ts", "ц"), ("ch", "ч"), ("sh", "ш")),
    *(("yu", "ю"), ("ya", "я"), ("yo", "е"), ("ju", "ю"), ("ja", "я"), ("iy", "ий"), ("ay", "ай")),
    *(("ey", "ей"), ("oy", "ой"), ("uy", "уй")),
    *(("a", "а"), ("b", "б"), ("c", "ц"), ("d", "д"), ("e", "е"), ("f", "ф")),
    *(("g", "г"), ("h", "х"), ("i", "и"), ("j", "й"), ("k", "к"), ("l", "л"), ("m", "м"), ("n", "н")),
    *(("o", "о"), ("p", "п"), ("q", "к"), ("r", "р"), ("s", "с"), ("t", "т"), ("u", "у"), ("v", "в")),
    *(("w", "в"), ("x", "кс"), ("y", "ы"), ("z", "з")),
)
_LATIN = re.compile("|".join(latin for latin, _ in _SOUNDS))
_CYRILLIC = dict(_SOUNDS)


def in_cyrillic(word: str) -> str:
    """A Russian word that is written in Latin letters: ``zakazy`` is «заказы»."""
    return _LATIN.sub(lambda found: _CYRILLIC[found.group()], word.lower())


@lru_cache(maxsize=20_000)
def name_terms(name: str) -> frozenset[str]:
    """Terms of a name: of its parts, and of the Russian words that they may stand for."""
    parts = re.sub(r"[_\W]+|(?<=[a-zа-яё0-9])(?=[A-ZА-ЯЁ])", " ", name)
    russian = in_cyrillic(parts) if parts.isascii() else ""
    return frozenset(keyword_terms(f"{name} {parts} {russian}"))


def column_terms(column: Column) -> frozenset[str]:
    """Terms by which a question may mean a column."""
    return name_terms(column.name) | _terms_of((column.note, *column.synonyms))


def table_terms(table: Table) -> frozenset[str]:
    """Terms by which a question may mean a table, its columns left aside."""
    return called_terms(table) | _terms_of((table.note, *table.synonyms))


def called_terms(table: Table) -> frozenset[str]:
    """Terms that by themselves are what a table is called: its name, and its synonyms of one word."""
    return name_terms(table.name) | _terms_of(word for word in table.synonyms if " " not in word.strip())


def _terms_of(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(term for text in texts for term in keyword_terms(text))
