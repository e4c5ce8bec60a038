"""Words of a question that the index does not hold, found by their spelling.

People type «огранечение», or a Latin «c» inside a Russian word. Such a word would be lost for keyword
search; here it stands for the terms of the index nearest to it, at a discount. Anything with a digit
is a code, and a code is never guessed at: УПД-5 is not УПД-6.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from pipeline.index import Postings

__all__ = ["Vocabulary", "edit_distance", "vocabulary_of"]

# Cyrillic letters and the Latin ones that look the same in lower case or in capitals.
_LOOKALIKES = str.maketrans("авекмнорстухі", "abekmhopctyxi")
_LOOKALIKE_FACTOR = 0.95
_DISTANCE_FACTORS = {1: 0.8, 2: 0.6}
_MOST_ALTERNATIVES = 3
_BITS_OF_UINT16 = np.array([value.bit_count() for value in range(1 << 16)], dtype=np.uint8)


def edit_distance(one: str, other: str, limit: int) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours between two words.

    The optimal string alignment distance (Damerau 1964, without overlapping swaps).

    Returns:
        The distance, or ``limit + 1`` when it is larger than ``limit``.
    """
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        row = [i]
        for j, pair in enumerate(other, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != pair))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == pair:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        before, last = last, row
    return min(last[-1], limit + 1)


class Vocabulary:
    """The terms of a keyword index, ready to be searched by spelling.

    Args:
        terms: All terms of the index.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._words = [term for term in terms if term.isalpha()]
        self._lengths = np.array([len(word) for word in self._words], dtype=np.int32)
        self._letters = np.array([_letters(word) for word in self._words], dtype=np.uint64)
        self._by_look: dict[str, list[str]] = defaultdict(list)
        for word in self._words:
            self._by_look[word.translate(_LOOKALIKES)].append(word)

    def nearest(self, term: str) -> tuple[tuple[str, float], ...]:
        """Terms of the index that a term unknown to it may stand for, each with a factor 0..1.

        First the ones that look the same, else the nearest by edit distance: one edit for words of
        four letters and more, two for eight and more when the first letter agrees.
        """
        if not term.isalpha():
            return ()
        alike = self._by_look.get(term.translate(_LOOKALIKES), [])
        if alike:
            return tuple((word, _LOOKALIKE_FACTOR) for word in sorted(alike)[:_MOST_ALTERNATIVES])
        limit = 2 if len(term) >= 8 else 1 if len(term) >= 4 else 0
        for distance in range(1, limit + 1):
            found = [word for word in self._similar(term, distance) if _within(word, term, distance)]
            if found:
                # More shared letters at the start first: endings vary most.
                found.sort(key=lambda word: (-_shared_start(word, term), word))
                factor = _DISTANCE_FACTORS[distance]
                return tuple((word, factor) for word in found[:_MOST_ALTERNATIVES])
        return ()

    def _similar(self, term: str, distance: int) -> list[str]:
        """Words that may be within a distance: an edit changes at most two members of the letter set."""
        differing = (self._letters ^ np.uint64(_letters(term))).view(np.uint16).reshape(-1, 4)
        near = _BITS_OF_UINT16[differing].sum(axis=1) <= 2 * distance
        near &= np.abs(self._lengths - len(term)) <= distance
        return [self._words[position] for position in np.flatnonzero(near)]


def _letters(word: str) -> int:
    """The set of a word's letters as bits; different letters may share a bit."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) % 64)
    return bits


def _within(word: str, term: str, distance: int) -> bool:
    if distance > 1 and word[0] != term[0]:
        return False
    return edit_distance(word, term, distance) <= distance


def _shared_start(one: str, other: str) -> int:
    length = 0
    for letter, pair in zip(one, other, strict=False):
        if letter != pair:
            break
        length += 1
    return length


class _Latest:
    """The vocabulary of the postings asked about last: an index lives long and is swapped rarely."""

    entry: tuple[Postings, Vocabulary] | None = None


def vocabulary_of(postings: Postings) -> Vocabulary:
    """The vocabulary of an index's postings, built on first use (0.1 s for 100,000 terms)."""
    entry = _Latest.entry
    if entry is None or entry[0] is not postings:
        entry = (postings, Vocabulary(postings.terms))
        _Latest.entry = entry
    return entry[1]
