"""The first stage: which chunks are worth a closer look, by meaning and by words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pipeline.index import ChunkOrder, Index, order_of
from pipeline.retrieval.dense import cosines
from pipeline.retrieval.fusion import reciprocal_ranks, zscore_sum
from pipeline.retrieval.keyword import bm25
from pipeline.retrieval.prefilter import Rows
from pipeline.retrieval.ranking import Scores, Ties, best_rows, ranks
from pipeline.types import FloatMatrix, QuestionTerm, SearchMode

__all__ = ["Pool", "find_candidates"]

# Copies of one file must not fill the list: so many times more rows are looked at, again and again.
_LOOK_AHEAD = 4


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates, best first; position ``i`` of every array belongs to ``rows[i]``.

    Attributes:
        rows: Rows of the index.
        cosine: Question against topic + text.
        keyword: BM25.
        fused: What the order rests on: the joined scores, or the one score of a single-stage mode.
    """

    rows: tuple[int, ...]
    cosine: Scores
    keyword: Scores
    fused: Scores


def find_candidates(
    index: Index,
    question: FloatMatrix,
    terms: Sequence[QuestionTerm],
    allowed: Rows | None,
    *,
    mode: SearchMode = "hybrid",
    count: int = 30,
    fusion: Literal["zscore", "rrf"] = "zscore",
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
    """
    places = np.arange(len(index.chunks)) if allowed is None else allowed
    order = _taken(order_of(index.chunks), allowed)
    dense = cosines(index.vectors, question, allowed)
    keyword = bm25(index.postings, terms)
    if allowed is not None:
        keyword = keyword[allowed]
    found: list[int] = []
    if mode != "keyword":
        found += _best_distinct(order, dense, count)
    if mode != "dense":
        found += _best_distinct(order, keyword, count, above=0.0)
    some = np.array(_distinct(order, list(dict.fromkeys(found))), dtype=np.intp)
    ties = order.ranks[some]
    fused = _fused(dense[some], keyword[some], mode, fusion, ties)
    best = best_rows(fused, len(some), ties)
    chosen = some[best]
    return Pool(
        rows=tuple(places[chosen].tolist()),
        cosine=dense[chosen],
        keyword=keyword[chosen],
        fused=fused[best],
    )


def _taken(order: ChunkOrder, allowed: Rows | None) -> ChunkOrder:
    return order if allowed is None else ChunkOrder(order.ranks[allowed], order.twins[allowed])


def _best_distinct(order: ChunkOrder, scores: Scores, count: int, above: float = -np.inf) -> list[int]:
    """The best positions, ``count`` of them if there are so many different passages."""
    looked_at = count * _LOOK_AHEAD
    while True:
        best = best_rows(scores, looked_at, order.ranks, above)
        different = _distinct(order, best)
        if len(different) >= count or len(best) < looked_at:
            return different[:count]
        looked_at *= _LOOK_AHEAD


def _distinct(order: ChunkOrder, positions: Sequence[int]) -> list[int]:
    """Positions whose topic and text have not come before."""
    first: dict[int, int] = {}
    for position, twin in zip(positions, order.twins[positions].tolist(), strict=True):
        first.setdefault(twin, position)
    return list(first.values())


def _fused(
    dense: Scores,
    keyword: Scores,
    mode: SearchMode,
    fusion: Literal["zscore", "rrf"],
    ties: Ties,
) -> Scores:
    if mode == "dense":
        return dense
    if mode == "keyword":
        return keyword
    if fusion == "rrf":
        return reciprocal_ranks(ranks(dense, ties), ranks(keyword, ties))
    return zscore_sum(dense, keyword)
