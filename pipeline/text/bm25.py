"""BM25 over the postings of some chunks, whatever knows how rare a term is.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.index import Postings
from pipeline.types import QuestionTerm

__all__ = ["K1", "B", "bm25", "length_norms", "occurrences", "saturated"]

K1 = 1.2
"""How soon repeating a term stops adding to the score."""
B = 0.75
"""How much a long chunk is held against it, 0..1."""

Scores = NDArray[np.float32]
_Counts = NDArray[np.int32]


def bm25(
    postings: Postings,
    terms: Sequence[QuestionTerm],
    *,
    mean: float | None = None,
    k1: float = K1,
    b: float = B,
) -> Scores:
    """BM25 score of every chunk of the postings, 0 where no term occurs.

    A term found under several spellings counts once a chunk, with the spelling that scores best there.

    Args:
        postings: Of an index, or of an excerpt of one.
        terms: The question's keywords, with their weights.
        mean: Terms of a chunk on average, where the postings are those of an excerpt only.
        k1: See `K1`.
        b: See `B`.

    Returns:
        float32, shape (chunks,).
    """
    chunks = len(postings.lengths)
    scores = np.zeros(chunks, dtype=np.float32)
    if not chunks:
        return scores
    norms = length_norms(
        postings.lengths, float(postings.lengths.mean()) if mean is None else mean, k1=k1, b=b
    )
    for term in terms:
        parts = [_part(postings, norms, word, factor * term.weight, k1) for word, factor in term.found_as]
        if len(parts) == 1:
            rows, values = parts[0]
            scores[rows] += values
        elif parts:
            best = np.zeros(chunks, dtype=np.float32)
            for rows, values in parts:
                best[rows] = np.maximum(best[rows], values)
            scores += best
    return scores


def length_norms(lengths: _Counts, mean: float, *, k1: float = K1, b: float = B) -> Scores:
    """What `saturated` weighs counts against.

    Args:
        lengths: Terms of each chunk.
        mean: Terms of a chunk of the base on average.
        k1: See `K1`.
        b: See `B`.
    """
    slope = np.float32(k1 * b / max(mean, 1.0))
    norms: Scores = lengths.astype(np.float32) * slope + np.float32(k1 * (1 - b))
    return norms


def saturated(counts: _Counts, norms: Scores, weight: float = 1.0, k1: float = K1) -> Scores:
    """The score of a term that occurs so often, times its weight.

    Args:
        counts: Occurrences in each chunk.
        norms: `length_norms` of the same chunks.
        weight: Of the term.
        k1: See `K1`.
    """
    frequencies = counts.astype(np.float32)
    scores: Scores = frequencies * np.float32(weight * (k1 + 1)) / (frequencies + norms)
    return scores


def occurrences(postings: Postings, word: str) -> tuple[_Counts, _Counts]:
    """The rows that hold a term, ascending, and how often each does."""
    term = postings.terms.get(word)
    if term is None:  # an excerpt of a base need not hold what the base holds
        return postings.rows[:0], postings.counts[:0]
    span = slice(int(postings.starts[term]), int(postings.starts[term + 1]))
    return postings.rows[span], postings.counts[span]


def _part(postings: Postings, norms: Scores, word: str, weight: float, k1: float) -> tuple[_Counts, Scores]:
    rows, counts = occurrences(postings, word)
    return rows, saturated(counts, norms[rows], weight, k1)
