"""Late interaction: a passage is as good as its best token for each token of the question.

The score of ColBERT (Khattab and Zaharia, SIGIR 2020, https://arxiv.org/abs/2004.12832), averaged over
the question's tokens instead of summed, so that scores of short and long questions compare. The token
vectors are the embedder's own last hidden states. Pure functions; a matrix of similarities always has
the question's tokens in its rows and the passage's tokens in its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.strategies import COVERAGE_WEIGHT
from pipeline.types import FloatMatrix

__all__ = [
    "COVERAGE_WEIGHT",
    "JoinedSimilarity",
    "joined_similarity",
    "late_interaction_score",
    "late_interaction_scores",
    "similarity_matrix",
    "token_maxima",
]

_SINGLE_THREADED = 1 << 18

TokenMatrix = NDArray[np.float32] | NDArray[np.int8]
"""Token vectors, shape (tokens, dimension): float32 rows of length 1, or int8 rows of any length."""


@dataclass(frozen=True, slots=True)
class JoinedSimilarity:
    """The similarity matrices of several passages, side by side.

    Attributes:
        columns: float32, (tokens of all passages, question tokens).
        bounds: Where each passage's tokens begin, and where the last one's end.
    """

    columns: FloatMatrix
    bounds: tuple[int, ...]

    def matrices(self) -> list[FloatMatrix]:
        """The `similarity_matrix` of each passage; a view."""
        pairs = zip(self.bounds, self.bounds[1:], strict=False)
        return [self.columns[begin:end].T for begin, end in pairs]

    def scores(self) -> NDArray[np.float32]:
        """The `late_interaction_score` of each passage, (passages,); finite whatever the vectors are."""
        bounds = np.array(self.bounds, dtype=np.intp)
        scores = np.zeros(len(bounds) - 1, dtype=np.float32)
        filled = np.flatnonzero(np.diff(bounds) > 0)
        if len(filled) and self.columns.shape[1]:
            scores[filled] = np.maximum.reduceat(self.columns, bounds[filled], axis=0).mean(axis=1)
        return np.nan_to_num(scores, copy=False, nan=0.0, posinf=0.0, neginf=0.0)


def joined_similarity(
    question: FloatMatrix,
    passages: Sequence[TokenMatrix],
    scales: Sequence[NDArray[np.float32]] | None = None,
) -> JoinedSimilarity:
    """Cosine of every question token with every token of each passage.

    One product a passage, through one small buffer: the floats of a passage stay in the processor's
    cache, where those of 20 passages would go to memory and back.

    Args:
        question: float32, (question tokens, dimension), rows of length 1.
        passages: (passage tokens, dimension) each.
        scales: For each passage what gives its rows length 1, float32 (passage tokens,), where that
            is known; else the lengths of int8 rows are worked out.
    """
    lengths = [len(passage) for passage in passages]
    bounds = (0, *np.cumsum(lengths, dtype=np.intp).tolist())
    columns = np.empty((bounds[-1], len(question)), dtype=np.float32)
    buffer = np.empty((max(lengths, default=0), question.shape[1]), dtype=np.float32)
    across = np.ascontiguousarray(question.T)
    for number, passage in enumerate(passages):
        out = columns[bounds[number] : bounds[number + 1]]
        rows = buffer[: len(passage)]
        rows[...] = passage
        _multiply(rows, across, out)
        if scales is not None:
            out *= scales[number][:, None]
        elif passage.dtype == np.int8:
            sizes = np.sqrt(np.einsum("ij,ij->i", rows, rows))
            out /= np.where(sizes > 0, sizes, 1.0)[:, None]
    return JoinedSimilarity(columns, bounds)


def similarity_matrix(question: FloatMatrix, passage: TokenMatrix) -> FloatMatrix:
    """Cosine of every question token with every passage token.

    Args:
        question: float32, (question tokens, dimension), rows of length 1.
        passage: (passage tokens, dimension).

    Returns:
        float32, (question tokens, passage tokens).
    """
    return joined_similarity(question, [passage]).matrices()[0]


def token_maxima(similarity: FloatMatrix) -> NDArray[np.float32]:
    """The best cosine for each question token, (question tokens,); all 0 when the passage has no tokens."""
    if similarity.shape[1] == 0:
        return np.zeros(similarity.shape[0], np.float32)
    return np.asarray(np.maximum.reduce(similarity, axis=1), dtype=np.float32)


def late_interaction_score(similarity: FloatMatrix) -> float:
    """Mean over the question's tokens of the best cosine, -1..1; 0 when either side has no tokens."""
    maxima = token_maxima(similarity)
    # The ufuncs themselves: `max` and `mean` take longer to be called than to work on so few numbers.
    return float(np.add.reduce(maxima) / len(maxima)) if len(maxima) else 0.0


def late_interaction_scores(question: FloatMatrix, passages: Sequence[TokenMatrix]) -> NDArray[np.float32]:
    """`late_interaction_score` of each passage, (passages,)."""
    return joined_similarity(question, passages).scores()


def _multiply(rows: FloatMatrix, across: FloatMatrix, out: FloatMatrix) -> None:
    """``rows @ across`` on the calling thread.

    OpenBLAS starts threads from 2**18 multiplications on, and where the cores are busy (with the
    language model) waiting for them took 300 ms instead of 2. Smaller products stay below that.
    """
    height = max(_SINGLE_THREADED // max(across.size, 1), 1)
    for begin in range(0, len(rows), height):
        np.matmul(rows[begin : begin + height], across, out=out[begin : begin + height])
