"""Late interaction: a passage is as good as its best token for each token of the question.

The score of ColBERT (Khattab and Zaharia, SIGIR 2020, https://arxiv.org/abs/2004.12832), averaged over
the question's tokens instead of summed, so that scores of short and long questions compare. The token
vectors are the embedder's own last hidden states. Pure functions; a matrix of similarities always has
the question's tokens in its rows and the passage's tokens in its columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.types import FloatMatrix

__all__ = [
    "late_interaction_score",
    "late_interaction_scores",
    "similarities",
    "similarity_matrix",
    "token_maxima",
]

_SINGLE_THREADED = 1 << 18
_NARROWEST = 8

TokenMatrix = NDArray[np.float32] | NDArray[np.int8]
"""Token vectors, shape (tokens, dimension): float32 rows of length 1, or int8 rows of any length."""


def similarity_matrix(question: FloatMatrix, passage: TokenMatrix) -> FloatMatrix:
    """Cosine of every question token with every passage token.

    Args:
        question: float32, (question tokens, dimension), rows of length 1.
        passage: (passage tokens, dimension).

    Returns:
        float32, (question tokens, passage tokens).
    """
    rows = np.ascontiguousarray(passage, dtype=np.float32)
    product = _product(question, rows)
    if passage.dtype == np.int8:
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        product /= np.where(lengths > 0, lengths, 1.0)
    return product


def similarities(question: FloatMatrix, passages: Sequence[TokenMatrix]) -> list[FloatMatrix]:
    """`similarity_matrix` of each passage.

    One product a passage: its vectors stay in the processor's cache, where joining 20 passages into
    one matrix first would move 6 MB twice.
    """
    return [similarity_matrix(question, passage) for passage in passages]


def token_maxima(similarity: FloatMatrix) -> NDArray[np.float32]:
    """The best cosine for each question token, (question tokens,); all 0 when the passage has no tokens."""
    if similarity.shape[1] == 0:
        return np.zeros(similarity.shape[0], np.float32)
    return np.asarray(similarity.max(axis=1), dtype=np.float32)


def late_interaction_score(similarity: FloatMatrix) -> float:
    """Mean over the question's tokens of the best cosine, -1..1; 0 when either side has no tokens."""
    maxima = token_maxima(similarity)
    return float(maxima.mean()) if len(maxima) else 0.0


def late_interaction_scores(question: FloatMatrix, passages: Sequence[TokenMatrix]) -> NDArray[np.float32]:
    """`late_interaction_score` of each passage, (passages,)."""
    scores = [late_interaction_score(matrix) for matrix in similarities(question, passages)]
    return np.array(scores, dtype=np.float32)


def _product(question: FloatMatrix, rows: FloatMatrix) -> FloatMatrix:
    """``question @ rows.T`` on the calling thread.

    OpenBLAS starts threads from 2**18 multiplications on, and where the cores are busy (with the
    language model) waiting for them took 300 ms instead of 2. Smaller products stay below that.
    """
    width = _SINGLE_THREADED // max(question.size, 1)
    whole = len(rows) // width * width if width >= _NARROWEST else 0
    if whole == 0:
        return np.asarray(question @ rows.T, dtype=np.float32)
    stacked = rows[:whole].reshape(-1, width, rows.shape[1]) @ question.T
    rest = rows[whole:] @ question.T
    return np.concatenate([stacked.reshape(whole, -1), rest]).T
