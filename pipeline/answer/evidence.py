"""From what was found to what an answer may rest on."""

from __future__ import annotations

from pipeline.answer.refusal import relevance, threshold_for
from pipeline.answer.sentences import best_passage, choose_sentences, scored_passages
from pipeline.types import Evidence, Retrieval

__all__ = ["gather"]


def gather(retrieval: Retrieval, threshold: float | None = None, strictness: int = 0) -> Evidence:
    """Choose sentences and decide whether there is an answer at all, before any model is asked.

    Args:
        retrieval: What was found.
        threshold: Relevance below which the answer is «не найдено»; None for the calibrated one.
        strictness: How much stricter (or, below 0, softer) than that one it shall be.
    """
    likely, sources = relevance(retrieval), retrieval.query.sources_limit
    passages = scored_passages(retrieval)
    return Evidence(
        hits=retrieval.hits,
        sentences=choose_sentences(retrieval, sources=sources, passages=passages),
        passage=best_passage(retrieval, sources=sources, passages=passages),
        relevance=likely,
        refused=likely < (threshold_for(strictness) if threshold is None else threshold),
    )
