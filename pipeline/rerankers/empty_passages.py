"""One rule for passages without text, for every reranker that reads passages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["score_with_text"]

_log = logging.getLogger(__name__)


def score_with_text(
    passages: Sequence[str], score: Callable[[Sequence[str]], NDArray[np.float32]]
) -> NDArray[np.float32]:
    """Score the passages that have text; those without never reach the model.

    A passage of nothing but spaces scores 1 below the lowest of the others, so that it comes last and
    a stable sort keeps such passages in the order they came in. Where none has text, all score 0.

    Args:
        passages: Any texts.
        score: One finite score for each of the passages it is given.

    Returns:
        float32, (passages,).
    """
    rows = [row for row, passage in enumerate(passages) if passage.strip()]
    if len(rows) < len(passages):
        _log.warning(
            "%d of %d passages have no text and were not reranked", len(passages) - len(rows), len(passages)
        )
    if not rows:
        return np.zeros(len(passages), np.float32)
    found = score([passages[row] for row in rows])
    scores = np.full(len(passages), found.min() - 1, np.float32)
    scores[rows] = found
    return scores
