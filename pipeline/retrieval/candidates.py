"""The first stage: which chunks are worth a closer look, by meaning and by words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pipeline.index import Index
from pipeline.retrieval.dense import cosines
from pipeline.retrieval.fusion import reciprocal_ranks, zscore_sum
from pipeline.retrieval.keyword import bm25
from pipeline.retrieval.prefilter import Rows
from pipeline.retrieval.ranking import Scores, best_rows, ranks
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
    dense = cosines(index.vectors, question, allowed)
    keyword = bm25(index.postings, terms)[places]
    by_id = _key(index, places)
    found: list[int] = []
    if mode != "keyword":
        found += _best_distinct(index, places, dense, count)
    if mode != "dense":
        found += _best_distinct(index, places, keyword, count, above=0.0)
    found = _distinct(index, places, dict.fromkeys(found))
    fused = _fused(dense[found], keyword[found], mode, fusion, lambda position: by_id(found[position]))
    order = best_rows(fused, len(found), lambda position: by_id(found[position]))
    chosen = [found[position] for position in order]
    return Pool(
        rows=tuple(int(places[position]) for position in chosen),
        cosine=dense[chosen],
        keyword=keyword[chosen],
        fused=fused[order],
    )


def _key(index: Index, places: Rows) -> Callable[[int], str]:
    return lambda position: index.chunks[int(places[position])].id


def _best_distinct(
    index: Index, places: Rows, scores: Scores, count: int, above: float = -np.inf
) -> list[int]:
    """The best positions, ``count`` of them if there are so many different passages."""
    looked_at = count * _LOOK_AHEAD
    while True:
        best = best_rows(scores, looked_at, _key(index, places), above)
        different = _distinct(index, places, best)
        if len(different) >= count or len(best) < looked_at:
            return different[:count]
        looked_at *= _LOOK_AHEAD


def _distinct(index: Index, places: Rows, positions: Iterable[int]) -> list[int]:
    """Positions whose topic and text have not come before."""
    first: dict[tuple[str, str], int] = {}
    for position in positions:
        chunk = index.chunks[int(places[position])]
        first.setdefault((chunk.topic, chunk.text), position)
    return list(first.values())


def _fused(
    dense: Scores,
    keyword: Scores,
    mode: SearchMode,
    fusion: Literal["zscore", "rrf"],
    key: Callable[[int], str],
) -> Scores:
    if mode == "dense":
        return dense
    if mode == "keyword":
        return keyword
    if fusion == "rrf":
        return reciprocal_ranks(ranks(dense, key), ranks(keyword, key))
    return zscore_sum(dense, keyword)
