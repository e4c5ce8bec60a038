"""Exact dense search: cosine of the question with every chunk that may be ranked."""

from __future__ import annotations

import numpy as np

from pipeline.ranking import Scores
from pipeline.retrieval.prefilter import Rows
from pipeline.types import FloatMatrix

__all__ = ["cosines"]

# Copying a row out of the matrix takes a few times as long as multiplying it where it is.
_COPY_COST = 4


def cosines(vectors: FloatMatrix, question: FloatMatrix, rows: Rows | None = None) -> Scores:
    """Cosine of each row (all of length 1) with the question.

    Args:
        vectors: float32, shape (chunks, dimension).
        question: float32, shape (dimension,), length 1.
        rows: Which rows; None for all.

    Returns:
        float32, one finite score a row asked for, in the order of ``rows``.
    """
    if rows is not None and len(rows) * _COPY_COST < len(vectors):
        scores = vectors[rows] @ question
    else:
        scores = vectors @ question if rows is None else (vectors @ question)[rows]
    scores = np.asarray(scores, dtype=np.float32)
    # A chunk without words may have a vector of zeros or worse; it must not poison the ranking.
    return scores if np.isfinite(scores.sum()) else np.nan_to_num(scores, nan=0.0, posinf=0.0, neginf=0.0)
