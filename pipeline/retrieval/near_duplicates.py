"""The same passage twice is one source.

Knowledge bases hold the same regulation in several folders and last year's copy of a page. Shown one
under the other they push real alternatives out. Texts that differ in a number or a code are never
the same: that difference is what people look for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from pipeline.text.normalise import fold
from pipeline.types import FloatMatrix

__all__ = ["COSINE", "say_the_same", "without_near_duplicates", "word_counts"]

COSINE = 0.97
"""Text vectors nearer than this are compared word by word."""
SHARED_WORDS = 0.9
"""Share of words, counted with repetition, that near-duplicates have in common."""

_WORD = re.compile(r"\w+")


def without_near_duplicates(texts: Sequence[str], vectors: FloatMatrix) -> list[int]:
    """Positions to keep: of passages that say the same, the first.

    Args:
        texts: Passages, best first.
        vectors: float32, shape (passages, dimension), rows of length 1: vectors of the texts.
    """
    cosines = vectors @ vectors.T
    kept: list[int] = []
    words: dict[int, Counter[str]] = {}

    def counted(position: int) -> Counter[str]:
        if position not in words:
            words[position] = word_counts(texts[position])
        return words[position]

    for position in range(len(texts)):
        near = (earlier for earlier in kept if cosines[position, earlier] > COSINE)
        if not any(say_the_same(counted(position), counted(earlier)) for earlier in near):
            kept.append(position)
    return kept


def word_counts(text: str) -> Counter[str]:
    """Words of a passage as `say_the_same` compares them."""
    return Counter(_WORD.findall(fold(text)))


def say_the_same(one: Counter[str], other: Counter[str]) -> bool:
    """True when two passages hold nearly the same words and the same numbers and codes."""
    if one == other:
        return True
    if _with_digits(one) != _with_digits(other):
        return False
    union = (one | other).total()
    return (one & other).total() >= SHARED_WORDS * union


def _with_digits(words: Counter[str]) -> set[str]:
    return {word for word in words if any(map(str.isdigit, word))}
