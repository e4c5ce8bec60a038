"""Which sentences of the sources carry the answer.

The similarity matrix of late interaction, restricted to the tokens of a sentence, scores that sentence
without another run of any model. Three things are added: the share of the question's words the sentence
holds, how good its whole passage is, and the neighbours it cannot do without.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.answer.orders import gives_orders
from pipeline.answer.units import Unit, split_units, widened
from pipeline.rerankers.late_interaction import late_interaction_score
from pipeline.text.stems import keyword_terms
from pipeline.types import Candidate, EvidenceSentence, QuestionTerm, Retrieval

__all__ = ["choose_sentences"]

COVERAGE_WEIGHT = 0.1
"""What holding all of the question's words adds to a sentence's score."""
PASSAGE_WEIGHT = 0.6
"""How much the passage's own score counts for each of its sentences."""
LONGEST_PIECE = 120
"""Tokens beyond which a sentence is not widened by its neighbours."""

_LINK = re.compile(r"!?\[[^\]]*\]\([^)\s]*\)|https?://\S+")
_WORD = re.compile(r"[^\W_]{2,}")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A scored sentence; ``start``..``end`` is its range once widened, ``tokens`` the size of that."""

    candidate: Candidate
    start: int
    end: int
    tokens: int
    score: float


def choose_sentences(
    retrieval: Retrieval, *, sources: int, count: int = 6, tokens: int = 400
) -> tuple[EvidenceSentence, ...]:
    """The sentences an answer may be made of, best first.

    Args:
        retrieval: What was found.
        sources: How many of the hits may be quoted from, best first.
        count: Sentences at most, neighbours not counted.
        tokens: Tokens of all of them together at most; the best one is always there.

    Returns:
        Sentences that do not overlap, none said twice. A hit that none was chosen from gives its best
        one too, so that every source has something to show.
    """
    shown = retrieval.candidates[: len(retrieval.hits)]
    pieces = [piece for candidate in shown for piece in _pieces(candidate, retrieval.terms)]
    pieces.sort(key=lambda piece: (-round(piece.score, 6), piece.candidate.hit.rank, piece.start))
    allowed = [piece for piece in pieces if piece.candidate.hit.rank <= sources]
    chosen = _within_budget(allowed, count, tokens)
    quoted = {piece.candidate.hit.rank for piece in chosen}
    for piece in pieces:
        if piece.candidate.hit.rank not in quoted:
            quoted.add(piece.candidate.hit.rank)
            chosen.append(piece)
    return tuple(_evidence(piece) for piece in chosen)


def _pieces(candidate: Candidate, terms: Sequence[QuestionTerm]) -> Iterable[_Piece]:
    if candidate.tokens is None or candidate.similarity is None:
        return
    text = candidate.hit.chunk.text
    units = split_units(text)
    starts = candidate.tokens.spans[:, 0]
    sizes = [int(((starts >= unit.start) & (starts < unit.end)).sum()) for unit in units]
    weights = np.array([term.weight for term in terms])
    passage = late_interaction_score(candidate.similarity) + COVERAGE_WEIGHT * _share(
        candidate.covered, weights
    )
    for place, unit in enumerate(units):
        if not sizes[place] or not _quotable(unit, text[unit.start : unit.end]):
            continue
        inside = (starts >= unit.start) & (starts < unit.end)
        held = set(keyword_terms(text[unit.start : unit.end]))
        covered = np.array([_held(term, held) for term in terms])
        score = late_interaction_score(candidate.similarity[:, inside])
        score += COVERAGE_WEIGHT * _share(covered, weights) + PASSAGE_WEIGHT * passage
        first, last = _room_for_neighbours(text, units, sizes, place)
        yield _Piece(candidate, units[first].start, units[last].end, sum(sizes[first : last + 1]), score)


def _quotable(unit: Unit, text: str) -> bool:
    """Not a heading, nor a line of links and pictures alone, nor an order to a language model."""
    return unit.kind != "heading" and bool(_WORD.search(_LINK.sub("", text))) and not gives_orders(text)


def _room_for_neighbours(
    text: str, units: Sequence[Unit], sizes: Sequence[int], place: int
) -> tuple[int, int]:
    """The widened range, or as much of it as stays short; never over a sentence that gives orders."""
    first, last = widened(text, units, place)
    while last > place and sum(sizes[place : last + 1]) > LONGEST_PIECE:
        last -= 1
    if sum(sizes[first : last + 1]) > LONGEST_PIECE:
        first = place
    around = (units[other] for other in range(first, last + 1) if other != place)
    if any(gives_orders(text[unit.start : unit.end]) for unit in around):
        return place, place
    return first, last


def _within_budget(pieces: Iterable[_Piece], count: int, tokens: int) -> list[_Piece]:
    chosen: list[_Piece] = []
    said: set[str] = set()
    for piece in pieces:
        words = " ".join(piece.candidate.hit.chunk.text[piece.start : piece.end].lower().split())
        used = sum(other.tokens for other in chosen)
        if words in said or (chosen and used + piece.tokens > tokens):
            continue
        if any(_overlap(piece, other) for other in chosen):
            continue
        said.add(words)
        chosen.append(piece)
        if len(chosen) == count:
            break
    return chosen


def _overlap(one: _Piece, other: _Piece) -> bool:
    """Whether both quote the same place of a document; neighbouring chunks share sentences."""
    a, b = one.candidate.hit.chunk, other.candidate.hit.chunk
    same = a.document_id == b.document_id
    return same and one.start + a.start < other.end + b.start and other.start + b.start < one.end + a.start


def _held(term: QuestionTerm, words: set[str]) -> float:
    return max((factor for word, factor in term.found_as if word in words), default=0.0)


def _share(covered: np.ndarray, weights: np.ndarray) -> float:
    total = float(weights.sum())
    return float(covered @ weights) / total if total > 0 else 0.0


def _evidence(piece: _Piece) -> EvidenceSentence:
    hit = piece.candidate.hit
    return EvidenceSentence(hit.rank, hit.chunk, piece.start, piece.end, round(piece.score, 6))
