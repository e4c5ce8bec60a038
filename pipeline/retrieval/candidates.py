"""The first stage: which chunks are worth a closer look, by meaning and by words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

# Copies of one file would fill the list; so many times more rows are looked at to pass over them.
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
        found += _distinct(index, places, best_rows(dense, count * _LOOK_AHEAD, by_id), count)
    if mode != "dense":
        found += _distinct(index, places, best_rows(keyword, count * _LOOK_AHEAD, by_id, above=0.0), count)
    found = _distinct(index, places, dict.fromkeys(found), len(found))
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


def _distinct(
    index: Index, places: Rows, positions: Sequence[int] | dict[int, None], count: int
) -> list[int]:
    """The first ``count`` positions whose topic and text have not come before."""
    seen: set[tuple[str, str]] = set()
    kept: list[int] = []
    for position in positions:
        chunk = index.chunks[int(places[position])]
        if (chunk.topic, chunk.text) not in seen and len(kept) < count:
            seen.add((chunk.topic, chunk.text))
            kept.append(position)
    return kept


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
