"""Two rankings into one; a store that ranks by itself joins them the same way.

``zscore`` adds standardised scores and so keeps by how much a candidate wins; ``rrf`` (reciprocal
rank fusion, Cormack, Clarke and Büttcher, SIGIR 2009) knows ranks only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from pipeline.ranking import Scores, Ties, ranks
from pipeline.types import SearchMode

__all__ = ["Fusion", "fused_scores", "reciprocal_ranks", "standard_scores", "zscore_sum"]

Fusion = Literal["zscore", "rrf"]

RRF_K = 60
DENSE_WEIGHT = 0.7
KEYWORD_WEIGHT = 0.3


def reciprocal_ranks(dense: Sequence[int], keyword: Sequence[int]) -> Scores:
    """Weighted reciprocal ranks: ``0.7 / (60 + dense rank) + 0.3 / (60 + keyword rank)``."""
    return np.asarray(
        DENSE_WEIGHT / (RRF_K + np.asarray(dense)) + KEYWORD_WEIGHT / (RRF_K + np.asarray(keyword)),
        dtype=np.float32,
    )


def standard_scores(scores: Scores) -> Scores:
    """Scores with mean 0 and deviation 1; all 0 where they do not differ."""
    deviation = float(scores.std()) if len(scores) else 0.0
    if deviation < 1e-9:
        return np.zeros_like(scores)
    standard: Scores = ((scores - scores.mean()) / deviation).astype(np.float32)
    return standard


def zscore_sum(dense: Scores, keyword: Scores) -> Scores:
    """Sum of both score arrays, each standardised over the candidates."""
    return standard_scores(dense) + standard_scores(keyword)


def fused_scores(dense: Scores, keyword: Scores, mode: SearchMode, fusion: Fusion, ties: Ties) -> Scores:
    """What the order of candidates rests on: both scores joined, or the one of a single-stage mode."""
    if mode == "dense":
        return dense
    if mode == "keyword":
        return keyword
    if fusion == "rrf":
        return reciprocal_ranks(ranks(dense, ties), ranks(keyword, ties))
    return zscore_sum(dense, keyword)
