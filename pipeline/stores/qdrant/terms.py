"""Keyword search by sparse vectors of our own stems.

A chunk's sparse vector holds what BM25 gives each of its terms apart from rarity, a question's holds the
terms' weights; their product is BM25. Rarity rests on statistics kept with each version. Only the mean
length in the chunks' half is not always today's: it stays until it is a tenth off, so that a new file does
not change every point. What a search found is scored again with the exact mean.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.index import Postings
from pipeline.lazy import Lazy
from pipeline.text.bm25 import length_norms, saturated
from pipeline.text.spelling import Vocabulary
from pipeline.types import QuestionTerm

if TYPE_CHECKING:
    from qdrant_client import models

__all__ = ["BaseStatistics", "WordVectors", "holdings_of", "mean_in_force", "question_vector"]

_DRIFT = 0.1


def mean_in_force(mean: float, earlier: float) -> float:
    """The mean length that sparse vectors are made with."""
    return earlier if earlier and abs(mean - earlier) <= _DRIFT * earlier else mean


class WordVectors:
    """The sparse vectors of chunks.

    Args:
        postings: Of all of them.
        mean: See `mean_in_force`.
    """

    def __init__(self, postings: Postings, mean: float) -> None:
        size = len(postings.lengths)
        order = np.argsort(postings.rows, kind="stable")
        self._terms = [""] * len(postings.terms)
        for term, place in postings.terms.items():
            self._terms[place] = term
        numbers = np.array([_number(term) for term in self._terms], dtype=np.uint32)
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(postings.rows, minlength=size))])
        places = np.arange(len(numbers), dtype=np.int32)
        self._places = np.repeat(places, np.diff(postings.starts))[order]
        self._numbers = numbers
        self._counts = postings.counts[order]
        norms = length_norms(postings.lengths, mean)
        self._values = saturated(self._counts, norms[postings.rows[order]])

    def of(self, row: int) -> models.SparseVector:
        """The sparse vector of a chunk."""
        from qdrant_client import models

        span = self._span(row)
        # Terms of one number, one pair in four billion, count together.
        indices, places = np.unique(self._numbers[self._places[span]], return_inverse=True)
        values = np.zeros(len(indices), dtype=np.float32)
        np.add.at(values, places, self._values[span])
        return models.SparseVector(indices=indices.tolist(), values=values.tolist())

    def counts(self, row: int) -> dict[str, list[Any]]:
        """The terms of a chunk and how often each occurs, as payload."""
        span = self._span(row)
        terms = [self._terms[place] for place in self._places[span].tolist()]
        return {"terms": terms, "counts": self._counts[span].tolist()}

    def _span(self, row: int) -> slice:
        return slice(int(self._starts[row]), int(self._starts[row + 1]))


def question_vector(terms: Iterable[QuestionTerm]) -> models.SparseVector | None:
    """The sparse vector of a question; None where the base holds none of its terms."""
    from qdrant_client import models

    weights: dict[int, float] = {}
    for term in terms:
        for word, factor in term.found_as:
            number = _number(word)
            weights[number] = max(weights.get(number, 0.0), term.weight * factor)
    if not weights:
        return None
    return models.SparseVector(indices=sorted(weights), values=[weights[one] for one in sorted(weights)])


def holdings_of(postings: Postings) -> dict[str, int]:
    """How many chunks hold each term."""
    held = np.diff(postings.starts).tolist()
    return {term: held[place] for term, place in postings.terms.items()}


@dataclass(frozen=True, slots=True)
class BaseStatistics:
    """`pipeline.snapshot.TermStatistics` of all sources of a base together.

    Attributes:
        chunks: How many chunks there are.
        held: Term -> chunks that hold it, of each source.
    """

    chunks: int
    held: Sequence[Mapping[str, int]]
    _vocabulary: Lazy[Vocabulary] = field(init=False)

    def __post_init__(self) -> None:
        made = Lazy(lambda: Vocabulary({term for one in self.held for term in one}))
        object.__setattr__(self, "_vocabulary", made)

    def holding(self, term: str) -> int | None:
        """How many chunks hold a term; None for one that occurs nowhere."""
        return sum(one.get(term, 0) for one in self.held) or None

    def nearest(self, term: str) -> tuple[tuple[str, float], ...]:
        """Terms of the base spelt like this one, each with a factor 0..1."""
        return self._vocabulary.get().nearest(term)


def _number(term: str) -> int:
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))
