"""Keyword search: what the words of a question weigh, and which of them a chunk holds.

The score itself is `pipeline.text.bm25`; the weights are the non-negative idf that Lucene uses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.index import Postings
from pipeline.ranking import Scores
from pipeline.snapshot import TermStatistics
from pipeline.text.bm25 import bm25, occurrences
from pipeline.text.function_words import function_terms
from pipeline.text.spelling import vocabulary_of
from pipeline.text.stems import keyword_terms
from pipeline.types import FloatMatrix, QuestionTerm

__all__ = ["PostingsStatistics", "bm25", "coverage", "covered_share", "question_terms", "weighted_terms"]

FUNCTION_WORD_WEIGHT = 0.1
"""What is left of the weight of a word like «почему» or "which"."""


def question_terms(postings: Postings, text: str) -> tuple[QuestionTerm, ...]:
    """Keywords of a question, each once, in the order of their first occurrence."""
    return weighted_terms(PostingsStatistics(postings), text)


def weighted_terms(known: TermStatistics, text: str) -> tuple[QuestionTerm, ...]:
    """As `question_terms`, for a base that is known by its statistics only."""
    return tuple(_question_term(known, term) for term in dict.fromkeys(keyword_terms(text)))


@dataclass(frozen=True, slots=True)
class PostingsStatistics:
    """`TermStatistics` of an index that is at hand."""

    postings: Postings

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return len(self.postings.lengths)

    def holding(self, term: str) -> int | None:
        """How many chunks hold a term; None for one that occurs nowhere."""
        return len(occurrences(self.postings, term)[0]) if term in self.postings.terms else None

    def nearest(self, term: str) -> tuple[tuple[str, float], ...]:
        """Terms of the index spelt like this one, each with a factor 0..1."""
        return vocabulary_of(self.postings).nearest(term)


def coverage(postings: Postings, terms: Sequence[QuestionTerm], rows: Sequence[int]) -> FloatMatrix:
    """How surely each chunk holds each term: 1 for the term itself, less for a near spelling, else 0.

    Returns:
        float32, shape (rows, terms).
    """
    wanted = np.asarray(rows, dtype=np.int64)
    table = np.zeros((len(wanted), len(terms)), dtype=np.float32)
    for column, term in enumerate(terms):
        for word, factor in term.found_as:
            held, _ = occurrences(postings, word)
            if not len(held):
                continue
            places = np.minimum(np.searchsorted(held, wanted), len(held) - 1)
            table[:, column] = np.maximum(table[:, column], factor * (held[places] == wanted))
    return table


def covered_share(terms: Sequence[QuestionTerm], covered: FloatMatrix) -> Scores:
    """The share of the question's weight that each chunk holds, 0..1.

    Args:
        terms: The question's keywords.
        covered: float32, shape (chunks, terms), see :func:`coverage`.

    Returns:
        float32, shape (chunks,); all 0 for a question without words.
    """
    weights = np.array([term.weight for term in terms], dtype=np.float32)
    shares: Scores = covered @ weights / np.float32(weights.sum() or 1.0)
    return shares


def _question_term(known: TermStatistics, term: str) -> QuestionTerm:
    held = known.holding(term)
    if held is not None:
        found: tuple[tuple[str, float], ...] = ((term, 1.0),)
    else:
        found = known.nearest(term)
        held = sum(known.holding(word) or 0 for word, _ in found)
    chunks = known.chunks
    holding = min(held, chunks)
    weight = math.log(1 + (chunks - holding + 0.5) / (holding + 0.5))
    if term in function_terms():
        weight *= FUNCTION_WORD_WEIGHT
    return QuestionTerm(text=term, weight=weight, found_as=found)
