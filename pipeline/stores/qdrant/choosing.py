"""From what a query found to a pool: exact scores, copies of a text taken out, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.fusion import Fusion, fused_scores
from pipeline.index import ChunkOrder
from pipeline.ranking import best_rows
from pipeline.snapshot import Asked, Pool
from pipeline.stores.qdrant.layout import TEXT, TOPIC_TEXT
from pipeline.stores.qdrant.points import chunk_in
from pipeline.text.bm25 import bm25
from pipeline.text.postings import counted_postings
from pipeline.types import Chunk, FloatMatrix, SearchMode

__all__ = ["Chosen", "Found", "choose", "excerpt_rows"]


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk's point.

    Attributes:
        vector: float32, shape (dimension,): of topic + text.
        text_vector: float32, same shape: of the text alone.
        token_count: How many token vectors it has.
        terms: Its terms, each with how often it occurs.
    """

    id: str
    chunk: Chunk
    vector: FloatMatrix
    text_vector: FloatMatrix
    token_count: int
    terms: Mapping[str, int]

    @classmethod
    def of(cls, point: Any, document_id: str) -> Found:  # noqa: ANN401 - the client's
        """From a point with payload and vectors."""
        return cls(
            id=str(point.id),
            chunk=chunk_in(point.payload, document_id),
            vector=np.array(point.vector[TOPIC_TEXT], dtype=np.float32),
            text_vector=np.array(point.vector[TEXT], dtype=np.float32),
            token_count=point.payload["token_count"],
            terms=dict(zip(point.payload["terms"], point.payload["counts"], strict=True)),
        )


@dataclass(frozen=True, slots=True)
class Chosen:
    """The candidates: their places among what was found, and the pool whose row ``i`` is ``places[i]``."""

    places: tuple[int, ...]
    pool: Pool


def choose(
    found: Sequence[Found],
    asked: Asked,
    *,
    mode: SearchMode,
    fusion: Fusion,
    count: int,
    limit: int,
    mean: float,
) -> Chosen | None:
    """The best of each list, joined; None where copies or ties leave open which they are.

    Args:
        found: What a query gave, the lists of both searches together.
        asked: The question.
        mode: Which searches were asked.
        fusion: How both scores are joined.
        count: How many each search contributes.
        limit: How many each search was asked for.
        mean: Terms of a chunk of the base on average.
    """
    chunks = [one.chunk for one in found]
    order = ChunkOrder.of(chunks)
    matrix = np.stack([one.vector for one in found]) if found else np.zeros((0, 1), dtype=np.float32)
    near = (matrix @ asked.vector if found else np.zeros(0)).astype(np.float32)
    words = bm25(counted_postings([one.terms for one in found]), asked.terms, mean=mean)
    chosen: list[int] = []
    for scores, takes_part, above in (
        (near, mode != "keyword", -np.inf),
        (words, mode != "dense", 0.0),
    ):
        if not takes_part:
            continue
        listed = best_rows(scores, len(found), order.ranks, above)
        best = order.different(listed)[:count]
        if len(listed) >= limit and (len(best) < count or _tied(scores[best[-1]], scores[listed[limit - 1]])):
            return None
        chosen += best
    some = np.array(order.different(list(dict.fromkeys(chosen))), dtype=np.intp)
    ties = order.ranks[some]
    fused = fused_scores(near[some], words[some], mode, fusion, ties)
    best = best_rows(fused, len(some), ties)
    pool = Pool(
        rows=tuple(range(len(best))),
        cosine=near[some][best],
        keyword=words[some][best],
        fused=fused[best],
    )
    return Chosen(tuple(some[best].tolist()), pool)


def excerpt_rows(count: int) -> Pool:
    """A pool without scores."""
    none = np.zeros(count, dtype=np.float32)
    return Pool(tuple(range(count)), none, none, none)


def _tied(one: float, other: float) -> bool:
    """As `best_rows` sees it: then ids decide, and there may be others with the same score."""
    return round(float(one), 6) == round(float(other), 6)
