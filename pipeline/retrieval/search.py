"""One search, from a question to ranked candidates: plain functions, all inputs in the signature.

encode → filter → first stage (`pipeline.strategies`) → late interaction → order → (cross-encoder) →
near-duplicates out. The same input gives the same output, timings apart.
"""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np

from pipeline.clock import Clock
from pipeline.errors import RemoteError
from pipeline.index import Index
from pipeline.ports import Embedder, Reranker
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.retrieval.keyword import weighted_terms
from pipeline.retrieval.near_duplicates import without_near_duplicates
from pipeline.retrieval.question import encode_question, with_words
from pipeline.retrieval.room import Room, fitting
from pipeline.retrieval.table import Table
from pipeline.settings import SearchSettings
from pipeline.snapshot import Asked, Excerpt, Snapshot
from pipeline.strategies import RERANKERS, Strategy, settled
from pipeline.text.embedded import embedded_text
from pipeline.text.word_tokens import question_words
from pipeline.types import FloatMatrix, Query, Retrieval, TokenVectors

__all__ = ["CROSS_ENCODER_CANDIDATES", "NO_CROSS_ENCODER", "retrieve", "retrieve_from"]

logger = logging.getLogger(__name__)

NO_CROSS_ENCODER = "no_cross_encoder"
"""The note of a search that was to end with a cross-encoder where none is installed."""

NO_EMBEDDER = "no_embedder"
"""The note of a search by words alone, because the embedder's server is away."""

CROSS_ENCODER_CANDIDATES = 10
"""A cross-encoder reads every candidate with the question: 30 ms each where late interaction takes 0.1."""


def retrieve(
    query: Query,
    index: Index,
    embedder: Embedder,
    settings: SearchSettings,
    cross_encoder: Reranker | None = None,
    *,
    room: Room | None = None,
) -> Retrieval:
    """`retrieve_from` an index that is at hand."""
    return retrieve_from(query, IndexSnapshot(index), embedder, settings, cross_encoder, room=room)


def retrieve_from(
    query: Query,
    snapshot: Snapshot,
    embedder: Embedder,
    settings: SearchSettings,
    cross_encoder: Reranker | None = None,
    *,
    room: Room | None = None,
) -> Retrieval:
    """Find the passages that answer a question.

    The strategy finds candidates and the reranker orders them, both named by the query, else by the settings;
    with its usual reranker a hybrid search is ordered by late interaction plus a little for the share of the
    question's words, weighted by rarity, that the passage holds. With the cross-encoder the best of what the
    strategy's usual reranker gives are read, and it then decides.

    Args:
        query: The question; ``search_text`` is what is searched for.
        snapshot: What is searched; an empty one gives no hits.
        embedder: The one the index was made with; while its server is away, words alone are searched for.
        settings: How many candidates, and the strategy where the query names none.
        cross_encoder: The one to use if it is asked for; where there is none, a note says so.
        room: What the prompt has room for, to a strategy that takes everything; None for what it usually has,
            counted in tokens of the embedder.

    Returns:
        With the query that was carried out: its strategy and reranker are named, and where the strategy takes
        everything, as many sources are shown and read as there are.
    """
    clock = Clock()
    query, strategy, vector, question, notes = _encoded(query, snapshot, embedder, settings)
    clock.lap("encode")
    asked = Asked(query.search_text, vector, weighted_terms(snapshot.statistics, query.search_text))
    if strategy.is_whole:
        excerpt, is_cut = _everything(strategy, snapshot, asked, query, room or Room.of(embedder))
        notes = (*notes, "whole_cut") if is_cut else notes
        count = len(excerpt.pool.rows)
    else:
        excerpt = strategy.find(snapshot, asked, query.filter, max(settings.candidates, query.top_k))
        count = max(settings.rerank, 2 * query.top_k)
    index = with_words(excerpt.index, question)
    clock.lap("search")
    table = Table.of(index, excerpt.pool, count, vector=vector, question=question, terms=asked.terms)
    reads = RERANKERS[query.reranker].reads
    order = RERANKERS[strategy.reranker if reads else query.reranker].order
    if order is not None:
        table = table.ordered(order(table.stages))
    clock.lap("late_interaction")
    if reads and cross_encoder is None:
        notes = (*notes, NO_CROSS_ENCODER)
    elif reads and cross_encoder is not None:
        table = _cross_encoded(table, query, cross_encoder, keeps_all=strategy.is_whole)
        clock.lap(cross_encoder.name)
    table = table.taken(
        without_near_duplicates([chunk.text for chunk in table.chunks], index.text_vectors[list(table.rows)])
    )
    if strategy.is_whole:
        read = max(len(table.rows), 1)
        query = replace(query, top_k=read, sources_limit=read)
    candidates = table.candidates(index.tokens, query.top_k)
    calibration = snapshot.calibration
    clock.lap("near_duplicates")
    return Retrieval(
        query=query,
        hits=tuple(candidate.hit for candidate in candidates[: query.top_k]),
        candidates=candidates,
        question=question,
        terms=asked.terms,
        embedder_id=embedder.spec.id,
        timings_ms=clock.laps_ms(),
        notes=notes,
        shifts=(calibration.shift, calibration.shift_abroad) if calibration else (0.0, 0.0),
    )


def _encoded(
    query: Query, snapshot: Snapshot, embedder: Embedder, settings: SearchSettings
) -> tuple[Query, Strategy, FloatMatrix, TokenVectors, tuple[str, ...]]:
    """The query with nothing left open, its strategy, the question's vector and tokens, and notes."""
    query, strategy = _settled(query, settings)
    try:
        vector, question = encode_question(query.search_text, embedder)
    except RemoteError as error:
        # Words need no embedder: sources found by them are better than none while its server is away.
        logger.warning("%s", error)
        query, strategy = _settled(replace(query, strategy="keyword", reranker="none"), settings)
        vector = np.zeros(snapshot.manifest.dimension, dtype=np.float32)
        return query, strategy, vector, question_words(query.search_text), (NO_EMBEDDER,)
    return query, strategy, vector, question, ()


def _everything(
    strategy: Strategy, snapshot: Snapshot, asked: Asked, query: Query, room: Room
) -> tuple[Excerpt, bool]:
    """All that the prompt has room for, and whether that may not be all there is.

    A base that is read in part only must not pass for one that was read.
    """
    everything = strategy.find(snapshot, asked, query.filter, room.chunks)
    excerpt = fitting(everything, room)
    count = len(excerpt.pool.rows)
    return excerpt, count < len(everything.pool.rows) or count == room.chunks


def _settled(query: Query, settings: SearchSettings) -> tuple[Query, Strategy]:
    """The query with nothing left open."""
    strategy, reranker = settled(query.strategy or settings.strategy, query.reranker or settings.reranker)
    return replace(query, strategy=strategy.name, reranker=reranker.name), strategy


def _cross_encoded(table: Table, query: Query, cross_encoder: Reranker, *, keeps_all: bool) -> Table:
    """The table in the order of the cross-encoder, which reads the best; ``keeps_all``: not only those.

    Chunks without text follow, then those that were not read, in their old order.
    """
    best = max(CROSS_ENCODER_CANDIDATES, query.top_k)
    # Where everything is a source, what is not read by the cross-encoder stays behind what is.
    table = table if keeps_all else table.taken(range(best))
    texts = [embedded_text(chunk) for chunk in table.chunks[:best]]
    worded = [place for place, text in enumerate(texts) if text.strip()]
    scores = np.nan_to_num(cross_encoder.score(query.search_text, [texts[place] for place in worded]))
    unread = np.arange(len(table.chunks) - len(texts), dtype=np.float32)
    full = np.full(len(table.chunks), scores.min(initial=0.0) - 1.0, dtype=np.float32)
    full[len(texts) :] -= 1.0 + unread
    full[worded] = scores
    return table.ordered(full, name=cross_encoder.name)
