"""Measures of ranking and of yes-or-no decisions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["area_under_curve", "first_rank", "mean_reciprocal_rank", "recall_at"]


def first_rank(ranked: Sequence[str], right: Collection[str]) -> int | None:
    """Rank, from 1, of the first right item, each item counted where it stands first; None if missing."""
    for rank, item in enumerate(dict.fromkeys(ranked), start=1):
        if item in right:
            return rank
    return None


def recall_at(ranks: Sequence[int | None], k: int) -> float:
    """Share of questions whose right item is among the first ``k``; 0 for no questions."""
    return sum(rank is not None and rank <= k for rank in ranks) / max(len(ranks), 1)


def mean_reciprocal_rank(ranks: Sequence[int | None]) -> float:
    """Mean of 1 / rank, a missing item counting 0; 0 for no questions."""
    return sum(1 / rank for rank in ranks if rank is not None) / max(len(ranks), 1)


def area_under_curve(positives: ArrayLike, negatives: ArrayLike) -> float:
    """Chance that a positive scores above a negative, ties counting half (area under the ROC curve).

    The rank-sum form of Mann and Whitney (1947). NaN where either side is empty.
    """
    above, below = np.asarray(positives, dtype=np.float64), np.asarray(negatives, dtype=np.float64)
    if not len(above) or not len(below):
        return float("nan")
    ordered = np.sort(below)
    lower = np.searchsorted(ordered, above, side="left")
    equal = np.searchsorted(ordered, above, side="right") - lower
    return float((lower + equal / 2).sum() / (len(above) * len(below)))
