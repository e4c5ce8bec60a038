"""Which sentences of the sources carry the answer.

The similarity matrix of late interaction, restricted to the tokens of a sentence, scores that sentence
without another run of any model. Three things are added: the share of the question's words the sentence
holds, how good its whole passage is, and the neighbours it cannot do without.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipeline.answer.orders import is_ordered
from pipeline.answer.units import Unit, split_units, widened
from pipeline.rerankers.late_interaction import late_interaction_score
from pipeline.text.stems import keyword_terms
from pipeline.types import (
    Candidate,
    EvidenceSentence,
    FloatMatrix,
    Hit,
    IntMatrix,
    QuestionTerm,
    Retrieval,
)

__all__ = ["ScoredPassage", "best_passage", "choose_sentences", "scored_passages"]

WORDS_WEIGHT = 0.1
"""What holding all of the question's words adds to a sentence's score."""
PASSAGE_WEIGHT = 0.6
"""How much the passage's own score counts for each of its sentences."""
LONGEST_PIECE = 120
"""Tokens beyond which a sentence is not widened by its neighbours."""

Rows = NDArray[np.intp]

LONGEST_PASSAGE = 500
"""Characters of the best passage at most: what a reader takes in at a glance."""
NEIGHBOUR_MARGIN = 0.08
"""How far below the best sentence a neighbour may score and still belong to the best passage."""
PASSAGE_PIECES = 3
"""Pieces it is made of at most, those a piece cannot do without not counted."""

_LINK = re.compile(r"!?\[[^\]]*\]\([^)\s]*\)|https?://\S+")
_WORD = re.compile(r"[^\W_]{2,}")


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A candidate cut into pieces.

    Attributes:
        sizes: Tokens of each piece.
        scores: How well each piece answers; none for a heading or a piece without tokens.
    """

    candidate: Candidate
    units: tuple[Unit, ...]
    sizes: list[int]
    scores: dict[int, float]


@dataclass(frozen=True, slots=True)
class _Choice:
    """A piece with the neighbours it needs: ``start``..``end`` in its chunk."""

    hit: Hit
    start: int
    end: int
    tokens: int
    score: float


def scored_passages(retrieval: Retrieval) -> list[ScoredPassage]:
    """The passages of the hits, cut into pieces, each piece with its score."""
    return [_scored(candidate, retrieval.terms) for candidate in retrieval.candidates[: len(retrieval.hits)]]


def choose_sentences(
    retrieval: Retrieval,
    *,
    sources: int,
    count: int = 6,
    tokens: int = 400,
    passages: Sequence[ScoredPassage] | None = None,
) -> tuple[EvidenceSentence, ...]:
    """The sentences an answer may be made of, best first.

    Args:
        retrieval: What was found.
        sources: How many of the hits may be quoted from, best first.
        count: Sentences at most, neighbours not counted.
        tokens: Tokens of all of them together at most; the best one is always there.
        passages: The `scored_passages`, where they are at hand.

    Returns:
        Sentences that do not overlap, none said twice. A hit that none was chosen from gives its best
        one too, so that every source has something to show.
    """
    order = _in_order(scored_passages(retrieval) if passages is None else passages)
    allowed = (item for item in order if item[0].candidate.hit.rank <= sources)
    chosen = _within_budget(allowed, count, tokens)
    quoted = {choice.hit.rank for choice in chosen}
    for passage, place in order:
        hit = passage.candidate.hit
        if hit.rank not in quoted and _quotable(passage, place):
            quoted.add(hit.rank)
            chosen.append(_choice(passage, place))
    return tuple(
        EvidenceSentence(choice.hit.rank, choice.hit.chunk, choice.start, choice.end, choice.score)
        for choice in chosen
    )


def _in_order(passages: Iterable[ScoredPassage]) -> list[tuple[ScoredPassage, int]]:
    """All scored pieces, best first."""
    return sorted(
        ((passage, place) for passage in passages for place in passage.scores),
        key=lambda item: (-round(item[0].scores[item[1]], 6), item[0].candidate.hit.rank, item[1]),
    )


def best_passage(
    retrieval: Retrieval, *, sources: int, passages: Sequence[ScoredPassage] | None = None
) -> EvidenceSentence | None:
    """The place to read first: the best sentence with its best neighbours, while that stays short.

    An answer often stands in the sentence before or behind the one that resembles the question, and one
    passage reads better than sentences from here and there.

    Args:
        retrieval: What was found.
        sources: How many of the hits it may come from.
        passages: The `scored_passages`, where they are at hand.

    Returns:
        None where no sentence is short enough. Code is no passage to read.
    """
    found = scored_passages(retrieval) if passages is None else passages
    for passage, place in _in_order(found[:sources]):
        if passage.units[place].kind != "code" and _quotable(passage, place):
            first, last = _room_for_neighbours(passage, place)
            if _length(passage, first, last) <= LONGEST_PASSAGE:
                return _extended(passage, place, first, last)
    return None


def _extended(passage: ScoredPassage, place: int, first: int, last: int) -> EvidenceSentence:
    least = passage.scores[place] - NEIGHBOUR_MARGIN
    for _ in range(PASSAGE_PIECES - 1):
        nearby = [
            (passage.scores[other], other)
            for other in (first - 1, last + 1)
            if passage.scores.get(other, -1.0) >= least
            and passage.units[other].kind != "code"
            and _quotable(passage, other)
            and _length(passage, min(first, other), max(last, other)) <= LONGEST_PASSAGE
        ]
        if not nearby:
            break
        _, other = max(nearby)
        first, last = min(first, other), max(last, other)
    units = passage.units
    hit = passage.candidate.hit
    return EvidenceSentence(
        hit.rank, hit.chunk, units[first].start, units[last].end, round(passage.scores[place], 6)
    )


def _length(passage: ScoredPassage, first: int, last: int) -> int:
    return passage.units[last].end - passage.units[first].start


def _scored(candidate: Candidate, terms: Sequence[QuestionTerm]) -> ScoredPassage:
    similarity = candidate.similarity
    if candidate.tokens is None or similarity is None:
        return ScoredPassage(candidate, (), [], {})
    pieces = _read(candidate.hit.chunk.text)
    weights = np.array([term.weight for term in terms])
    passage = late_interaction_score(similarity) + WORDS_WEIGHT * _share(candidate.covered, weights)
    units = tuple(unit for unit, _ in pieces)
    begins, ends = _token_ranges(candidate.tokens.spans, units)
    late = _late_of_ranges(similarity, begins, ends)
    scores: dict[int, float] = {}
    for place, (unit, words) in enumerate(pieces):
        if begins[place] < ends[place] and unit.kind != "heading":
            covered = np.array([_held(term, words) for term in terms])
            scores[place] = (
                float(late[place]) + WORDS_WEIGHT * _share(covered, weights) + PASSAGE_WEIGHT * passage
            )
    return ScoredPassage(candidate, units, (ends - begins).tolist(), scores)


def _token_ranges(spans: IntMatrix, units: Sequence[Unit]) -> tuple[Rows, Rows]:
    """First token of each unit, and the first one after it; tokens stand in the order of the text."""
    starts = spans[:, 0]
    begins = np.searchsorted(starts, [unit.start for unit in units])
    ends = np.searchsorted(starts, [unit.end for unit in units])
    return begins, np.maximum(begins, ends)


def _late_of_ranges(similarity: FloatMatrix, begins: Rows, ends: Rows) -> FloatMatrix:
    """`late_interaction_score` of ranges of a passage's tokens, ascending and apart; 0 for an empty one."""
    scores = np.zeros(len(begins), dtype=np.float32)
    filled = np.flatnonzero(begins < ends)
    if len(filled) and similarity.shape[0]:
        borders = np.stack([begins[filled], ends[filled]], axis=1).ravel()
        borders = borders[:-1] if borders[-1] == similarity.shape[1] else borders
        best = np.maximum.reduceat(similarity, borders, axis=1)[:, ::2]
        scores[filled] = best.mean(axis=0)
    return scores


@lru_cache(maxsize=2048)
def _read(text: str) -> tuple[tuple[Unit, frozenset[str]], ...]:
    """The pieces of a passage with their keyword terms; the same passages come up again and again."""
    return tuple((unit, frozenset(keyword_terms(text[unit.start : unit.end]))) for unit in split_units(text))


def _within_budget(order: Iterable[tuple[ScoredPassage, int]], count: int, tokens: int) -> list[_Choice]:
    chosen: list[_Choice] = []
    said: set[str] = set()
    for passage, place in order:
        if len(chosen) == count:
            break
        if not _quotable(passage, place):
            continue
        choice = _choice(passage, place)
        words = " ".join(choice.hit.chunk.text[choice.start : choice.end].lower().split())
        used = sum(other.tokens for other in chosen)
        too_long = bool(chosen) and used + choice.tokens > tokens
        if not too_long and words not in said and not any(_overlap(choice, other) for other in chosen):
            said.add(words)
            chosen.append(choice)
    return chosen


def _quotable(passage: ScoredPassage, place: int) -> bool:
    """Neither links and pictures alone nor an order to a language model."""
    text = _text(passage, place)
    return bool(_WORD.search(_LINK.sub("", text))) and not _is_ordered(passage, place)


def _is_ordered(passage: ScoredPassage, place: int) -> bool:
    unit = passage.units[place]
    return is_ordered(passage.candidate.hit.chunk.text, unit.start, unit.end)


def _choice(passage: ScoredPassage, place: int) -> _Choice:
    first, last = _room_for_neighbours(passage, place)
    return _Choice(
        hit=passage.candidate.hit,
        start=passage.units[first].start,
        end=passage.units[last].end,
        tokens=sum(passage.sizes[first : last + 1]),
        score=round(passage.scores[place], 6),
    )


def _room_for_neighbours(passage: ScoredPassage, place: int) -> tuple[int, int]:
    """The widened range, or as much of it as stays short; never over a sentence that gives orders."""
    sizes = passage.sizes
    first, last = widened(passage.candidate.hit.chunk.text, passage.units, place)
    while last > place and sum(sizes[place : last + 1]) > LONGEST_PIECE:
        last -= 1
    if sum(sizes[first : last + 1]) > LONGEST_PIECE:
        first = place
    if any(_is_ordered(passage, other) for other in range(first, last + 1)):
        return place, place
    return first, last


def _text(passage: ScoredPassage, place: int) -> str:
    unit = passage.units[place]
    return passage.candidate.hit.chunk.text[unit.start : unit.end]


def _overlap(one: _Choice, other: _Choice) -> bool:
    """Whether both quote the same place of a document; neighbouring chunks share sentences."""
    a, b = one.hit.chunk, other.hit.chunk
    same = a.document_id == b.document_id
    return same and one.start + a.start < other.end + b.start and other.start + b.start < one.end + a.start


def _held(term: QuestionTerm, words: frozenset[str]) -> float:
    return max((factor for word, factor in term.found_as if word in words), default=0.0)


def _share(covered: np.ndarray, weights: np.ndarray) -> float:
    total = float(weights.sum())
    return float(covered @ weights) / total if total > 0 else 0.0
