"""Vectors compared one by one: what stands in where an index of vectors is of no use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.types import FloatMatrix

__all__ = ["FEW", "nearest_of"]

FEW = 0.1
"""Share of all rows up to which those that a filter leaves are compared one by one.

Measured with 10,000 vectors of benchmarks/look_alike.py and efSearch 128: at a share of 0.1 the graph finds
0.89 of the ten nearest in 0.41 ms, comparing finds all in 0.29 ms; above it, efSearch divided by the share
keeps recall at 0.99, which is what an unfiltered search has.
"""


def nearest_of(
    vectors: FloatMatrix, question: FloatMatrix, count: int, allowed: NDArray[np.intp] | None
) -> NDArray[np.intp]:
    """The nearest rows of those allowed, all of them compared.

    Args:
        vectors: float32, shape (chunks, dimension), rows of length 1.
        question: float32, shape (dimension,), length 1.
        count: How many at most.
        allowed: The rows that may be found, ascending; None for all.
    """
    scores = np.nan_to_num(vectors @ question if allowed is None else vectors[allowed] @ question)
    best = np.argpartition(-scores, min(count, len(scores)) - 1)[:count]
    best = best[np.argsort(-scores[best], kind="stable")]
    return best.astype(np.intp) if allowed is None else allowed[best]
