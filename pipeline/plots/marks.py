"""What is doubled and what lies alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.plots.neighbours import Neighbours, nearest
from pipeline.ports import Progress
from pipeline.retrieval.near_duplicates import COSINE, say_the_same, word_counts
from pipeline.types import FloatMatrix

__all__ = ["duplicate_groups", "find_outliers"]

_PARTNERS = 5  # texts a text is compared with; a longer row of copies is joined link by link
_COMPANY = 3  # passages that make up "nearby": one may be the overlapping piece before it
_DEVIATIONS = 2.5  # the threshold that Leys et al. 2013 (doi:10.1016/j.jesp.2013.03.013) recommend
_LEAST_GAP = 0.01
_FEWEST = 10


def duplicate_groups(
    texts: Sequence[str], vectors: FloatMatrix, progress: Progress | None = None
) -> list[int | None]:
    """The number, from 1, of the group of near-duplicates that each text is in; None for most.

    The rule is the one by which a search shows such passages once: nearly the same words, and no
    difference in a number or a code.

    Args:
        texts: The passages.
        vectors: float32, shape (passages, dimension), rows of length 1: vectors of the texts alone.
        progress: Called with (passages compared, passages in all).
    """
    counts = [word_counts(text) for text in texts]
    first: dict[frozenset[tuple[str, int]], int] = {}
    leader = [first.setdefault(frozenset(count.items()), row) for row, count in enumerate(counts)]
    kept = sorted(row for row in set(leader) if counts[row])
    near = nearest(np.ascontiguousarray(vectors[kept]), _PARTNERS, progress)
    for place, row in enumerate(kept):
        for other, cosine in zip(near.rows[place].tolist(), near.cosines[place].tolist(), strict=True):
            partner = kept[other]
            one, two = _root(leader, row), _root(leader, partner)
            if cosine > COSINE and one != two and say_the_same(counts[row], counts[partner]):
                leader[max(one, two)] = min(one, two)
    roots = [_root(leader, row) for row in range(len(texts))]
    sizes = np.bincount(roots, minlength=len(texts)) if roots else np.zeros(0, dtype=np.int64)
    numbers: dict[int, int] = {}
    return [
        numbers.setdefault(root, len(numbers) + 1) if sizes[root] > 1 and counts[root] else None
        for root in roots
    ]


def find_outliers(neighbours: Neighbours, counts: Sequence[int]) -> NDArray[np.bool_]:
    """Which distinct rows lie alone: their mean cosine to the three nearest is unusually small.

    Distance to the nearest neighbours as a measure of outlyingness is that of Ramaswamy, Rastogi, Shim
    (SIGMOD 2000); unusual means more than 2.5 median absolute deviations below the median.

    Args:
        neighbours: Of the distinct rows.
        counts: How many passages each row stands for; what is there twice is not alone.
    """
    points = len(neighbours.rows)
    if points < _FEWEST:
        return np.zeros(points, dtype=np.bool_)
    closeness = neighbours.cosines[:, :_COMPANY].mean(axis=1)
    middle = np.median(closeness)
    spread = 1.4826 * np.median(np.abs(closeness - middle))
    alone = closeness < middle - max(_DEVIATIONS * spread, _LEAST_GAP)
    return np.asarray(alone & (np.asarray(counts) == 1), dtype=np.bool_)


def _root(leader: list[int], row: int) -> int:
    while leader[row] != row:
        leader[row] = leader[leader[row]]
        row = leader[row]
    return row
