"""From what was found to what an answer may rest on."""

from __future__ import annotations

from pipeline.answer.refusal import DEFAULT_THRESHOLD, relevance
from pipeline.answer.sentences import choose_sentences
from pipeline.types import Evidence, Retrieval

__all__ = ["gather"]


def gather(retrieval: Retrieval, threshold: float | None = None) -> Evidence:
    """Choose sentences and decide whether there is an answer at all, before any model is asked.

    Args:
        retrieval: What was found.
        threshold: Relevance below which the answer is «не найдено»; None for the calibrated one.
    """
    likely = relevance(retrieval)
    return Evidence(
        hits=retrieval.hits,
        sentences=choose_sentences(retrieval, sources=retrieval.query.sources_limit),
        relevance=likely,
        refused=likely < (DEFAULT_THRESHOLD if threshold is None else threshold),
    )
