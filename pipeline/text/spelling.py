"""Words of a question that the index does not hold, found by their spelling.

People type «огранечение», or a Latin «c» inside a Russian word. Such a word would be lost for keyword
search; here it stands for the terms of the index nearest to it, at a discount. Anything with a digit
is a code, and a code is never guessed at: УПД-5 is not УПД-6.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pipeline.index import Postings
from pipeline.latest import Latest

__all__ = ["Vocabulary", "edit_distance", "vocabulary_of"]

# Cyrillic letters and the Latin ones that look the same in lower case or in capitals.
_LOOKALIKES = str.maketrans("авекмнорстухі", "abekmhopctyxi")
_LOOKALIKE_FACTOR = 0.95
_DISTANCE_FACTORS = {1: 0.8, 2: 0.6}
_MOST_ALTERNATIVES = 3
_LOOK_OF = np.arange(max(_LOOKALIKES) + 1, dtype=np.uint32)
_LOOK_OF[list(_LOOKALIKES)] = list(_LOOKALIKES.values())
_BITS_OF_BYTE = np.array([value.bit_count() for value in range(1 << 8)], dtype=np.uint8)
_BITS_OF_UINT16 = (_BITS_OF_BYTE[:, None] + _BITS_OF_BYTE).ravel()


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
        self._words = sorted((term for term in terms if term.isalpha()), key=len)
        self._lengths = np.array([len(word) for word in self._words], dtype=np.int64)
        letters = np.frombuffer("".join(self._words).encode("utf-32-le"), dtype=np.uint32)
        self._letters = _letter_sets(letters, self._lengths)
        looks = np.where(letters < len(_LOOK_OF), _LOOK_OF[np.minimum(letters, len(_LOOK_OF) - 1)], letters)
        self._looks = _letter_sets(looks, self._lengths)

    def nearest(self, term: str) -> tuple[tuple[str, float], ...]:
        """Terms of the index that a term unknown to it may stand for, each with a factor 0..1.

        First the ones that look the same, else the nearest by edit distance: one edit for words of
        four letters and more, two for eight and more when the first letter agrees.
        """
        if not term.isalpha():
            return ()
        alike = self._alike(term)
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

    def _alike(self, term: str) -> list[str]:
        look = term.translate(_LOOKALIKES)
        some = self._of_lengths(len(term), len(term))
        near = np.flatnonzero(self._looks[some] == np.uint64(_letters(look)))
        words = (self._words[some.start + position] for position in near.tolist())
        return [word for word in words if word.translate(_LOOKALIKES) == look]

    def _similar(self, term: str, distance: int) -> list[str]:
        """Words that may be within a distance: an edit changes at most two members of the letter set."""
        some = self._of_lengths(len(term) - distance, len(term) + distance)
        differing = (self._letters[some] ^ np.uint64(_letters(term))).view(np.uint16).reshape(-1, 4)
        near = np.flatnonzero(_BITS_OF_UINT16[differing].sum(axis=1) <= 2 * distance)
        return [self._words[some.start + position] for position in near.tolist()]

    def _of_lengths(self, least: int, most: int) -> slice:
        first, last = np.searchsorted(self._lengths, (least, most + 1))
        return slice(int(first), int(last))


def _letter_sets(letters: NDArray[np.uint32], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """What `_letters` gives for each word, of words given as one array of letters."""
    if not len(lengths):
        return np.zeros(0, dtype=np.uint64)
    bits = np.left_shift(np.uint64(1), letters.astype(np.uint64) % np.uint64(64))
    return np.asarray(np.bitwise_or.reduceat(bits, np.cumsum(lengths) - lengths), dtype=np.uint64)


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


_latest: Latest[Postings, Vocabulary] = Latest(lambda postings: Vocabulary(postings.terms))


def vocabulary_of(postings: Postings) -> Vocabulary:
    """The vocabulary of an index's postings, built on first use (0.05 s for 100,000 terms)."""
    return _latest.of(postings)
