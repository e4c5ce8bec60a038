"""Choosing the best rows of a score array, with ties broken the same way every time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scores", "Ties", "best_rows", "ranks"]

Scores = NDArray[np.float32]
Ties = NDArray[np.int32]
"""One number a position; of two positions with equal scores the one with the smaller number comes first."""

# Equal vectors may differ in the last bits of their products, by where a row lies in the matrix.
_DIGITS = 6


def best_rows(scores: Scores, count: int, ties: Ties, above: float = -np.inf) -> list[int]:
    """Positions of the best scores, best first; equal ones (to six decimals) in the order of ``ties``.

    Args:
        scores: One score a position.
        count: How many to return at most.
        ties: What ties break by, one number a position.
        above: Only scores greater than this count.
    """
    if count <= 0 or not len(scores):
        return []
    floor = above
    if count < len(scores):
        kth = np.partition(scores, len(scores) - count)[len(scores) - count]
        floor = max(above, float(kth) - 2 * 10.0**-_DIGITS)
    if floor == -np.inf:
        best = _order(scores, ties)[:count]
    else:
        positions = np.flatnonzero(scores > floor)
        best = positions[_order(scores[positions], ties[positions])[:count]]
    found: list[int] = best.tolist()
    return found


def ranks(scores: Scores, ties: Ties) -> list[int]:
    """The rank, from 1, of every position, by the same order as :func:`best_rows`."""
    places = np.empty(len(scores), dtype=np.int64)
    places[_order(scores, ties)] = np.arange(1, len(scores) + 1)
    found: list[int] = places.tolist()
    return found


def _order(scores: Scores, ties: Ties) -> NDArray[np.intp]:
    return np.lexsort((ties, -np.round(scores.astype(np.float64), _DIGITS)))
