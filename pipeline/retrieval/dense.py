"""Exact dense search: cosine of the question with every chunk that may be ranked."""

from __future__ import annotations

import numpy as np

from pipeline.retrieval.prefilter import Rows
from pipeline.retrieval.ranking import Scores
from pipeline.types import FloatMatrix

__all__ = ["cosines"]


def cosines(vectors: FloatMatrix, question: FloatMatrix, rows: Rows | None = None) -> Scores:
    """Cosine of each row (all of length 1) with the question.

    Args:
        vectors: float32, shape (chunks, dimension).
        question: float32, shape (dimension,), length 1.
        rows: Which rows; None for all.

    Returns:
        float32, one finite score a row asked for, in the order of ``rows``.
    """
    wanted = vectors if rows is None else vectors[rows]
    scores: Scores = np.asarray(wanted @ question, dtype=np.float32)
    # A chunk without words may have a vector of zeros or worse; it must not poison the ranking.
    return np.nan_to_num(scores, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
