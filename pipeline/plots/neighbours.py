"""The nearest rows of every row, found exactly, a block of rows at a time.

One search serves both projections and the search for passages that lie alone. It is exact because that is
quick enough at 10,000 rows (more was not measured) and because equal input then gives an equal map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.ports import Progress
from pipeline.types import FloatMatrix, IntMatrix

__all__ = ["Distinct", "Neighbours", "distinct_rows", "nearest"]

_BLOCK_CELLS = 1 << 24  # cosines held at once: 64 MB
_DECIMALS = 4  # equal texts that were encoded in different batches differ in the last bits


@dataclass(frozen=True, slots=True)
class Neighbours:
    """For every row its nearest other rows, the nearest first.

    Attributes:
        rows: int32, shape (points, count).
        cosines: float32, same shape.
    """

    rows: IntMatrix
    cosines: FloatMatrix


@dataclass(frozen=True, slots=True)
class Distinct:
    """Rows without repetition.

    Attributes:
        vectors: float32, shape (distinct rows, dimension), in the order of first appearance.
        place: For every original row, its row in ``vectors``.
        counts: For every distinct row, how many original rows it stands for.
    """

    vectors: FloatMatrix
    place: Sequence[int]
    counts: Sequence[int]


def distinct_rows(vectors: FloatMatrix) -> Distinct:
    """Let one row stand for all that equal it to four decimals."""
    rounded = np.round(vectors, _DECIMALS) + np.float32(0)  # -0.0 becomes 0.0
    places: dict[bytes, int] = {}
    first: list[int] = []
    place: list[int] = []
    for row, values in enumerate(rounded):
        key = values.tobytes()
        if key not in places:
            places[key] = len(first)
            first.append(row)
        place.append(places[key])
    counts = np.bincount(np.array(place, dtype=np.int64), minlength=len(first))
    return Distinct(np.ascontiguousarray(vectors[first]), place, counts.tolist())


def nearest(vectors: FloatMatrix, count: int, progress: Progress | None = None) -> Neighbours:
    """The ``count`` nearest other rows of every row by cosine; fewer where there are fewer.

    Args:
        vectors: float32, shape (points, dimension), rows of length 1.
        count: Neighbours a row.
        progress: Called with (rows done, rows in all).
    """
    points = len(vectors)
    count = max(0, min(count, points - 1))
    rows = np.zeros((points, count), dtype=np.int32)
    cosines = np.zeros((points, count), dtype=np.float32)
    step = max(1, _BLOCK_CELLS // max(1, points))
    for start in range(0, points if count else 0, step):
        end = min(points, start + step)
        block = vectors[start:end] @ vectors.T
        here = np.arange(end - start)
        block[here, here + start] = -np.inf
        best = np.argpartition(-block, count - 1, axis=1)[:, :count]
        values = np.take_along_axis(block, best, axis=1)
        order = np.lexsort((best, -values), axis=1)
        rows[start:end] = np.take_along_axis(best, order, axis=1)
        cosines[start:end] = np.take_along_axis(values, order, axis=1)
        if progress is not None:
            progress(end, points)
    return Neighbours(rows, np.clip(cosines, -1.0, 1.0))
