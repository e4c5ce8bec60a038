"""From the logits of windows to the score of a passage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.rerankers.pairs import Pair

__all__ = ["relevance", "score_windows"]


def relevance(logits: NDArray[np.float32]) -> float:
    """The relevance logit of a model's output (labels,): its one label, or "yes" less "no" of two.

    The last label counts as "yes", the first as "no".
    """
    return float(logits[0] if len(logits) == 1 else logits[-1] - logits[0])


def score_windows(
    passages: Sequence[list[list[Pair]]], run: Callable[[Sequence[Pair]], Sequence[float]]
) -> NDArray[np.float32]:
    """Score all passages in one go.

    The best window of the passage counts; of a question in several windows, the mean of their bests,
    because each asks for something.

    Args:
        passages: For each passage, question windows by passage windows, as `PairTokenizer` gives them.
        run: Scores of any number of pairs, in their order.

    Returns:
        float32, (passages,).
    """
    logits: Iterator[float] = iter(run([pair for rows in passages for row in rows for pair in row]))
    return np.array(
        [np.mean([max(next(logits) for _ in row) for row in rows]) for rows in passages], np.float32
    )
