"""One search, from a question to ranked candidates: plain functions, all inputs in the signature.

encode → filter → dense and keyword candidates → fuse → late interaction → (cross-encoder) →
near-duplicates out. The same input gives the same output, timings apart.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from pipeline.clock import Clock
from pipeline.index import Index
from pipeline.ports import Embedder, Reranker
from pipeline.rerankers.late_interaction import COVERAGE_WEIGHT
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.retrieval.keyword import weighted_terms
from pipeline.retrieval.near_duplicates import without_near_duplicates
from pipeline.retrieval.question import encode_question
from pipeline.retrieval.table import Table
from pipeline.settings import SearchSettings
from pipeline.snapshot import Asked, Snapshot
from pipeline.text.embedded import embedded_text
from pipeline.types import Query, Retrieval

__all__ = ["CROSS_ENCODER_CANDIDATES", "retrieve", "retrieve_from"]

CROSS_ENCODER_CANDIDATES = 10
"""A cross-encoder reads every candidate with the question: 30 ms each where late interaction takes 0.1."""


def retrieve(
    query: Query,
    index: Index,
    embedder: Embedder,
    settings: SearchSettings,
    cross_encoder: Reranker | None = None,
) -> Retrieval:
    """`retrieve_from` an index that is at hand."""
    return retrieve_from(query, IndexSnapshot(index), embedder, settings, cross_encoder)


def retrieve_from(
    query: Query,
    snapshot: Snapshot,
    embedder: Embedder,
    settings: SearchSettings,
    cross_encoder: Reranker | None = None,
) -> Retrieval:
    """Find the passages that answer a question.

    A hybrid search is ordered by late interaction plus a little for the share of the question's words,
    weighted by rarity, that the passage holds (or as ``settings.order`` says). ``dense`` and ``keyword``
    are ordered by their one score, and late interaction serves the answer only. With
    ``query.cross_encoder`` the best candidates are read by the cross-encoder, which then decides.

    Args:
        query: The question; ``search_text`` is what is searched for.
        snapshot: What is searched; an empty one gives no hits.
        embedder: The one the index was made with.
        settings: How many candidates and how they are fused.
        cross_encoder: The one to use if the query asks for it; where there is none, a note says so.
    """
    clock = Clock()
    vector, question = encode_question(query.search_text, embedder)
    clock.lap("encode")
    terms = weighted_terms(snapshot.statistics, query.search_text)
    excerpt = snapshot.candidates(
        Asked(query.search_text, vector, terms),
        query.filter,
        mode=query.mode,
        count=max(settings.candidates, query.top_k),
        fusion=settings.fusion,
    )
    index = excerpt.index
    clock.lap("search")
    count = max(settings.rerank, 2 * query.top_k)
    table = Table.of(index, excerpt.pool, count, vector=vector, question=question, terms=terms)
    if query.mode == "hybrid":
        table = _ordered(table, settings.order)
    clock.lap("late_interaction")
    notes: tuple[str, ...] = ()
    if query.cross_encoder and cross_encoder is None:
        notes = ("no_cross_encoder",)
    elif query.cross_encoder and cross_encoder is not None:
        table = table.taken(range(max(CROSS_ENCODER_CANDIDATES, query.top_k)))
        table = _cross_encoded(table, query.search_text, cross_encoder)
        clock.lap(cross_encoder.name)
    table = table.taken(
        without_near_duplicates([chunk.text for chunk in table.chunks], index.text_vectors[list(table.rows)])
    )
    candidates = table.candidates(index.tokens, query.top_k)
    calibration = snapshot.calibration
    clock.lap("near_duplicates")
    return Retrieval(
        query=query,
        hits=tuple(candidate.hit for candidate in candidates[: query.top_k]),
        candidates=candidates,
        question=question,
        terms=terms,
        embedder_id=embedder.spec.id,
        timings_ms=clock.laps_ms(),
        notes=notes,
        shifts=(calibration.shift, calibration.shift_abroad) if calibration else (0.0, 0.0),
    )


def _ordered(table: Table, order: Literal["late_interaction", "text_only", "fusion"]) -> Table:
    if order == "late_interaction":
        return table.ordered(table.stages["late_interaction"] + COVERAGE_WEIGHT * table.stages["coverage"])
    return table.ordered(table.stages[order])


def _cross_encoded(table: Table, question: str, cross_encoder: Reranker) -> Table:
    """The table in the order of the cross-encoder; chunks without text follow in their old order."""
    texts = [embedded_text(chunk) for chunk in table.chunks]
    worded = [place for place, text in enumerate(texts) if text.strip()]
    scores = np.nan_to_num(cross_encoder.score(question, [texts[place] for place in worded]))
    full = np.full(len(texts), scores.min(initial=0.0) - 1.0, dtype=np.float32)
    full[worded] = scores
    return table.ordered(full, name=cross_encoder.name)
