"""When two sources say different things of the same, the reply says so, the newer one first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from pipeline.answer.difference import Claim, apart, differ
from pipeline.answer.markers import write_quote
from pipeline.answer.orders import is_ordered
from pipeline.answer.units import split_units
from pipeline.messages import text as message
from pipeline.types import (
    Answer,
    Candidate,
    Chunk,
    Citation,
    Evidence,
    Language,
    Retrieval,
)

__all__ = ["Contradiction", "contradictions", "with_contradictions"]

Dates = Callable[[Chunk, Chunk], tuple[str, str]]
"""ISO dates of the sources of two passages, whole or in part; empty where nothing tells."""

LONGEST = 300
"""Characters of a sentence beyond which it says too much to be compared."""

MOST = 2
"""Contradictions told in one reply."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two claims that cannot both hold; ``one`` is the newer where dates tell.

    Attributes:
        says_one: What the first says: its value, or the sentence when it is a matter of yes or no.
        says_other: The same of the second.
        date_one: ISO date of the first source, whole or in part; empty when unknown.
        date_other: The same of the second.
    """

    one: Claim
    other: Claim
    says_one: str
    says_other: str
    date_one: str = ""
    date_other: str = ""

    @property
    def ordered(self) -> bool:
        """True when the dates tell which is newer."""
        return _newer(self.date_one, self.date_other)


def contradictions(
    retrieval: Retrieval, evidence: Evidence, dates_of: Dates | None = None
) -> tuple[Contradiction, ...]:
    """Contradictions between the sentences an answer may rest on and other shown sources.

    Args:
        retrieval: What was found.
        evidence: The sentences chosen from it.
        dates_of: ISO dates of the sources of two passages; asked for contradictions only.
    """
    if len(evidence.hits) < 2 or evidence.refused:
        return ()
    shown = retrieval.candidates[: len(evidence.hits)]
    claims = [list(_claims(candidate)) for candidate in shown]
    chosen = [(s.source, s.start, s.end) for s in evidence.sentences]
    found: list[Contradiction] = []
    told: set[frozenset[str]] = set()
    for one in (claim for of_source in claims for claim in of_source if _is_chosen(claim, chosen)):
        for other in _of_other_sources(one, claims, shown):
            if apart(one, other) is None or any(_is_ordered(claim, shown) for claim in (one, other)):
                continue
            first, second = (_with_tokens(claim, shown[claim.source - 1]) for claim in (one, other))
            difference = differ(first, second, retrieval.terms)
            if difference and frozenset(difference) not in told:
                told.add(frozenset(difference))
                found.append(_in_order(Contradiction(one, other, *difference), shown, dates_of))
            if len(found) == MOST:
                return tuple(found)
    return tuple(found)


def with_contradictions(
    answer: Answer, found: Sequence[Contradiction], evidence: Evidence, language: Language
) -> Answer:
    """The answer with a sentence for each contradiction; offsets of its marks stay right."""
    if answer.outcome == "not_found":
        return answer
    citations = {(citation.n, citation.start): citation for citation in answer.citations}
    for contradiction in found:
        for claim in (contradiction.one, contradiction.other):
            citation = _citation(claim, evidence)
            citations.setdefault((citation.n, citation.start), citation)
    told = [f"\n\n{_told(contradiction, language)}" for contradiction in found]
    return replace(answer, text=answer.text + "".join(told), citations=tuple(citations.values()))


def _told(found: Contradiction, language: Language) -> str:
    key = "answer_contradiction_dated" if found.ordered else "answer_contradiction"
    return message(
        "answers",
        key,
        language,
        one=_quoted(found.says_one, found.one.source),
        other=_quoted(found.says_other, found.other.source),
        date=_spoken(found.date_one, language),
        other_date=_spoken(found.date_other, language),
    )


def _quoted(words: str, n: int) -> str:
    words = " ".join(words.split())
    return write_quote(words if words.endswith((".", "!", "?", "…")) else f"{words}.", n)


def _spoken(date: str, language: Language) -> str:
    return ".".join(reversed(date.split("-"))) if language == "ru" else date


def _citation(claim: Claim, evidence: Evidence) -> Citation:
    chunk = evidence.hits[claim.source - 1].chunk
    return Citation(claim.source, chunk.id, claim.text, chunk.start + claim.start, chunk.start + claim.end)


def _in_order(found: Contradiction, shown: Sequence[Candidate], dates_of: Dates | None) -> Contradiction:
    if dates_of is None:
        return found
    one, other = (shown[claim.source - 1].hit.chunk for claim in (found.one, found.other))
    date, other_date = dates_of(one, other)
    if _newer(other_date, date):
        return Contradiction(found.other, found.one, found.says_other, found.says_one, other_date, date)
    return replace(found, date_one=date, date_other=other_date)


def _newer(one: str, other: str) -> bool:
    """True if ISO date ``one`` is later; «2024» and «2024-05» do not tell."""
    return bool(one and other) and one > other and not one.startswith(other)


def _claims(candidate: Candidate) -> Iterator[Claim]:
    chunk = candidate.hit.chunk
    title = "\n".join(dict.fromkeys((*chunk.headings, chunk.topic)))
    for start, end in _comparable(chunk.text):
        yield Claim(chunk.text[start:end], title, candidate.hit.rank, start, end)


@lru_cache(maxsize=2048)
def _comparable(text: str) -> tuple[tuple[int, int], ...]:
    """The sentences of a passage that can be compared; the same passages come up again and again."""
    return tuple(
        (unit.start, unit.end)
        for unit in split_units(text)
        if unit.kind not in ("code", "heading") and unit.end - unit.start <= LONGEST
    )


def _is_ordered(claim: Claim, shown: Sequence[Candidate]) -> bool:
    return is_ordered(shown[claim.source - 1].hit.chunk.text, claim.start, claim.end)


def _with_tokens(claim: Claim, candidate: Candidate) -> Claim:
    tokens = candidate.tokens
    if tokens is None:
        return claim
    starts = tokens.spans[:, 0]
    inside = np.flatnonzero((starts >= claim.start) & (starts < claim.end))
    spans = tuple((int(a) - claim.start, int(b) - claim.start) for a, b in tokens.spans[inside])
    return replace(claim, tokens=tokens.vectors[inside], spans=spans)


def _is_chosen(claim: Claim, chosen: Iterable[tuple[int, int, int]]) -> bool:
    return any(
        source == claim.source and start <= claim.start and claim.end <= end for source, start, end in chosen
    )


def _of_other_sources(
    one: Claim, claims: Sequence[Sequence[Claim]], shown: Sequence[Candidate]
) -> Iterator[Claim]:
    """Sentences of other sources; those of the same stretch of a document are one source."""
    mine = shown[one.source - 1].hit.chunk
    for candidate, of_source in zip(shown, claims, strict=True):
        chunk = candidate.hit.chunk
        same_place = chunk.document_id == mine.document_id and chunk.topic == mine.topic
        if candidate.hit.rank != one.source and not same_place:
            yield from of_source
