"""What one term adds to a passage's BM25 score, its rarity aside.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["K1", "B", "length_norms", "saturated"]

K1 = 1.2
"""How soon repeating a term stops adding to the score."""
B = 0.75
"""How much a long chunk is held against it, 0..1."""

_Numbers = NDArray[np.float32]


def length_norms(lengths: NDArray[np.int32], mean: float, *, k1: float = K1, b: float = B) -> _Numbers:
    """What `saturated` weighs counts against.

    Args:
        lengths: Terms of each chunk.
        mean: Terms of a chunk of the base on average.
        k1: See `K1`.
        b: See `B`.
    """
    slope = np.float32(k1 * b / max(mean, 1.0))
    norms: _Numbers = lengths.astype(np.float32) * slope + np.float32(k1 * (1 - b))
    return norms


def saturated(counts: NDArray[np.int32], norms: _Numbers, weight: float = 1.0, k1: float = K1) -> _Numbers:
    """The score of a term that occurs so often, times its weight.

    Args:
        counts: Occurrences in each chunk.
        norms: `length_norms` of the same chunks.
        weight: Of the term.
        k1: See `K1`.
    """
    frequencies = counts.astype(np.float32)
    scores: _Numbers = frequencies * np.float32(weight * (k1 + 1)) / (frequencies + norms)
    return scores
