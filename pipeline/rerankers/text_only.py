"""The customer's rerank: the question against each passage's text without its topic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.types import FloatMatrix

__all__ = ["text_only_scores"]


def text_only_scores(question: FloatMatrix, text_vectors: FloatMatrix) -> NDArray[np.float32]:
    """Cosine of the question with each text-only vector.

    Args:
        question: float32, (dimension,), length 1.
        text_vectors: float32, (passages, dimension), rows of length 1; a row of zeros or of NaN, as an
            empty text may have, scores 0.

    Returns:
        float32, (passages,), all finite.
    """
    scores = np.asarray(text_vectors @ question, dtype=np.float32)
    return np.nan_to_num(scores, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
