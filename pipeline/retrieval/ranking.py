"""Choosing the best rows of a score array, with ties broken the same way every time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scores", "best_rows", "ranks"]

Scores = NDArray[np.float32]

# Equal vectors may differ in the last bits of their products, by where a row lies in the matrix.
_DIGITS = 6


def best_rows(scores: Scores, count: int, key: Callable[[int], str], above: float = -np.inf) -> list[int]:
    """Positions of the best scores, best first; equal ones (to six decimals) in the order of ``key``.

    Args:
        scores: One score a position.
        count: How many to return at most.
        key: What ties break by, given a position.
        above: Only scores greater than this count.
    """
    if count <= 0 or not len(scores):
        return []
    floor = above
    if count < len(scores):
        kth = np.partition(scores, len(scores) - count)[len(scores) - count]
        floor = max(above, float(kth) - 2 * 10.0**-_DIGITS)
    positions = np.flatnonzero(scores > floor) if floor > -np.inf else np.arange(len(scores))
    rounded = np.round(scores[positions].astype(np.float64), _DIGITS)
    order = sorted(
        zip(rounded.tolist(), positions.tolist(), strict=True), key=lambda item: (-item[0], key(item[1]))
    )
    return [position for _, position in order[:count]]


def ranks(scores: Scores, key: Callable[[int], str]) -> list[int]:
    """The rank, from 1, of every position, by the same order as :func:`best_rows`."""
    places = [0] * len(scores)
    for rank, position in enumerate(best_rows(scores, len(scores), key), start=1):
        places[position] = rank
    return places
