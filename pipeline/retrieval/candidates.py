"""The first stage: which chunks are worth a closer look, by meaning and by words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from pipeline.fusion import Fusion, fused_scores
from pipeline.index import ChunkOrder, Index, order_of
from pipeline.ranking import Scores, best_rows
from pipeline.retrieval.dense import cosines
from pipeline.retrieval.keyword import bm25
from pipeline.retrieval.prefilter import Rows
from pipeline.snapshot import Pool, VectorIndex
from pipeline.types import Filter, FloatMatrix, QuestionTerm, SearchMode

__all__ = ["find_candidates"]

# Copies of one file must not fill the list: so many times more rows are looked at, again and again.
_LOOK_AHEAD = 4


def find_candidates(
    index: Index,
    question: FloatMatrix,
    terms: Sequence[QuestionTerm],
    allowed: Rows | None,
    *,
    mode: SearchMode = "hybrid",
    count: int = 30,
    fusion: Fusion = "zscore",
    nearest: VectorIndex | None = None,
    wanted: Filter | None = None,
) -> Pool:
    """The best of dense and of keyword search, joined.

    Args:
        index: What is searched.
        question: float32, shape (dimension,), length 1.
        terms: The question's keywords.
        allowed: Rows that may be ranked; None for all.
        mode: ``hybrid``, or one of the two searches alone.
        count: How many each search contributes; texts that occur several times count once.
        fusion: How both scores are joined.
        nearest: Does the dense search, where it is not exact; cosines are exact all the same.
        wanted: What ``allowed`` was made from, for its use.
    """
    places = np.arange(len(index.chunks)) if allowed is None else allowed
    order = _taken(order_of(index), allowed)
    # By words alone only the cosines of what they find are of use.
    everywhere = nearest is None and mode != "keyword"
    dense = cosines(index.vectors, question, allowed) if everywhere else None
    keyword = bm25(index.postings, terms)
    if allowed is not None:
        keyword = keyword[allowed]
    found: list[int] = []
    if mode != "keyword" and dense is not None:
        found += _best_distinct(order, dense, count)
    elif mode != "keyword" and nearest is not None:
        found += _nearest_distinct(
            order,
            partial(nearest.nearest, question, wanted=wanted, allowed=allowed),
            partial(cosines, index.vectors, question),
            allowed,
            count,
        )
    if mode != "dense":
        found += _best_distinct(order, keyword, count, above=0.0)
    some = np.array(order.different(list(dict.fromkeys(found))), dtype=np.intp)
    near = dense[some] if dense is not None else cosines(index.vectors, question, places[some])
    ties = order.ranks[some]
    fused = fused_scores(near, keyword[some], mode, fusion, ties)
    best = best_rows(fused, len(some), ties)
    return Pool(
        rows=tuple(places[some[best]].tolist()),
        cosine=near[best],
        keyword=keyword[some[best]],
        fused=fused[best],
    )


def _nearest_distinct(
    order: ChunkOrder,
    ask: Callable[[int], Rows],
    cosines_of: Callable[[Rows], Scores],
    allowed: Rows | None,
    count: int,
) -> list[int]:
    """As `_best_distinct`, asking an index that gives rows and not a score for each of them."""
    looked_at = count * _LOOK_AHEAD
    while True:
        rows = ask(looked_at)
        positions = rows if allowed is None else np.searchsorted(allowed, rows)
        # Its own order is that of scores that are not rounded, and of equal ones as they came.
        best = positions[best_rows(cosines_of(rows), len(rows), order.ranks[positions])]
        different = order.different(best.tolist())
        if len(different) >= count or len(rows) < looked_at:
            return different[:count]
        looked_at *= _LOOK_AHEAD


def _taken(order: ChunkOrder, allowed: Rows | None) -> ChunkOrder:
    return order if allowed is None else ChunkOrder(order.ranks[allowed], order.twins[allowed])


def _best_distinct(order: ChunkOrder, scores: Scores, count: int, above: float = -np.inf) -> list[int]:
    """The best positions, ``count`` of them if there are so many different passages."""
    looked_at = count * _LOOK_AHEAD
    while True:
        best = best_rows(scores, looked_at, order.ranks, above)
        different = order.different(best)
        if len(different) >= count or len(best) < looked_at:
            return different[:count]
        looked_at *= _LOOK_AHEAD
