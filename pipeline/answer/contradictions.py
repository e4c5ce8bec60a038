"""When two sources say different things of the same, the reply says so, the newer one first.

Two sentences of different sources are compared when each says all that the other says apart from one value
(a number with the same unit, an amount, a date, a time) or from a yes or no. A word that only one of them has
is a condition or another subject («отпуск инвалидов»), unless the token vectors show that the other says it
in its own way. A contradiction that is none misleads more than one that is missed, so whatever is doubtful
counts as none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.answer.markers import write_quote
from pipeline.answer.orders import gives_orders
from pipeline.answer.statement import Said, identifiers, said, subject_of_title
from pipeline.answer.units import split_units
from pipeline.messages import text as message
from pipeline.text.stems import keyword_terms
from pipeline.types import (
    Answer,
    Candidate,
    Chunk,
    Citation,
    Evidence,
    FloatMatrix,
    Language,
    QuestionTerm,
    Retrieval,
)

__all__ = ["Claim", "Contradiction", "contradictions", "differ", "with_contradictions"]

Dates = Callable[[Chunk, Chunk], tuple[str, str]]
"""ISO dates of the sources of two passages, whole or in part; empty where nothing tells."""

LONGEST = 300
"""Characters of a sentence beyond which it says too much to be compared."""

SAME_WORD = 0.9
"""Cosine of token vectors from which a word is taken to be said by the other sentence too."""

SAME_SENTENCE = 0.84
"""Late interaction of two sentences, in the weaker direction, below which they are about different things."""

ON_THE_QUESTION = 0.5
"""Share of the question's weight that both sentences must hold themselves or in their titles."""

MOST = 2
"""Contradictions told in one reply."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a shown source.

    Attributes:
        source: Number of the source, from 1.
        title: Headings and topic it stands under.
        start: Offset in the text of the source's chunk.
        end: Where it ends there.
        tokens: Token vectors, (tokens, dimension), rows of length 1; None where there are none.
        spans: Character ranges of the tokens in the sentence.
    """

    text: str
    title: str = ""
    source: int = 1
    start: int = 0
    end: int = 0
    tokens: FloatMatrix | None = None
    spans: tuple[tuple[int, int], ...] = ()


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
            difference = differ(one, other, retrieval.terms)
            if difference and frozenset(difference) not in told:
                told.add(frozenset(difference))
                found.append(_in_order(Contradiction(one, other, *difference), shown, dates_of))
            if len(found) == MOST:
                return tuple(found)
    return tuple(found)


def differ(one: Claim, other: Claim, question: Sequence[QuestionTerm] = ()) -> tuple[str, str] | None:
    """What each of two sentences says where they contradict each other; None where they don't.

    Args:
        one: A sentence.
        other: A sentence of another source.
        question: The question's keywords; both sentences must be about it.
    """
    first, second = said(one.text), said(other.text)
    difference = _values_differ(one, first, other, second) or _signs_differ(one, first, other, second)
    if difference is None or not _same_question(one, other, question):
        return None
    return difference if _same_subject(one, first, other, second) else None


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
    chunk, tokens = candidate.hit.chunk, candidate.tokens
    title = "\n".join(dict.fromkeys((*chunk.headings, chunk.topic)))
    for unit in split_units(chunk.text):
        text = chunk.text[unit.start : unit.end]
        if unit.kind in ("code", "heading") or len(text) > LONGEST or gives_orders(text):
            continue
        claim = Claim(text, title, candidate.hit.rank, unit.start, unit.end)
        if tokens is not None:
            starts = tokens.spans[:, 0]
            inside = np.flatnonzero((starts >= unit.start) & (starts < unit.end))
            spans = tuple((int(a) - unit.start, int(b) - unit.start) for a, b in tokens.spans[inside])
            claim = replace(claim, tokens=tokens.vectors[inside], spans=spans)
        yield claim


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


def _values_differ(one: Claim, first: Said, other: Claim, second: Said) -> tuple[str, str] | None:
    """The one value that differs, if all others are the same and both say yes or both say no."""
    if first.yes != second.yes or not first.values or len(first.values) != len(second.values):
        return None
    apart: list[tuple[str, str]] = []
    for mine, theirs in zip(first.values, second.values, strict=True):
        if not mine.unit or not mine.comparable(theirs):
            return None
        if mine.amounts.isdisjoint(theirs.amounts):
            apart.append((one.text[mine.start : mine.end], other.text[theirs.start : theirs.end]))
            if mine.unit == "date" and len(first.values) > 1:
                return None  # «в 2023 году 5, в 2024 году 6»: the date is the condition
    return apart[0] if len(apart) == 1 else None


def _signs_differ(one: Claim, first: Said, other: Claim, second: Said) -> tuple[str, str] | None:
    if first.yes == second.yes or not (first.plain and second.plain):
        return None
    same = len(first.values) == len(second.values) and all(
        mine.comparable(theirs) and mine.amounts & theirs.amounts
        for mine, theirs in zip(first.values, second.values, strict=True)
    )
    return (one.text, other.text) if same and len(first.subject & second.subject) > 1 else None


def _same_question(one: Claim, other: Claim, question: Sequence[QuestionTerm]) -> bool:
    """Both sentences, with their titles, are about the same part of the question, and a large one."""
    total = sum(term.weight for term in question)
    if not total:
        return True
    held = [frozenset(keyword_terms(f"{claim.title}\n{claim.text}")) for claim in (one, other)]
    shared = sum(
        term.weight
        for term in question
        if all(any(word in terms for word, _ in term.found_as) for terms in held)
    )
    return shared >= ON_THE_QUESTION * total


def _same_subject(one: Claim, first: Said, other: Claim, second: Said) -> bool:
    if first.codes != second.codes or not first.subject & second.subject:
        return False
    if any(second.placed.get(term, place) != place for term, place in first.placed.items()):
        return False
    titles = identifiers(one.title), identifiers(other.title)
    if all(titles) and titles[0].isdisjoint(titles[1]):
        return False  # each is about a thing with a name of its own
    similarity = None
    if one.tokens is not None and other.tokens is not None:
        similarity = one.tokens @ other.tokens.T
        if not similarity.size or min(_likeness(similarity), _likeness(similarity.T)) < SAME_SENTENCE:
            return False
    mine, theirs = first.subject - second.subject, second.subject - first.subject
    turned = None if similarity is None else similarity.T
    if not (_all_said(one, mine, similarity) and _all_said(other, theirs, turned)):
        return False
    return len(first.subject & second.subject) > 1 or _titles_meet(one, first, other, second)


def _titles_meet(one: Claim, first: Said, other: Claim, second: Said) -> bool:
    """False when a short sentence takes its subject from its title and the titles have nothing in common."""
    mine = subject_of_title(one.title) - first.subject
    theirs = subject_of_title(other.title) - second.subject
    return not mine or not theirs or bool(mine & theirs)


def _likeness(similarity: FloatMatrix) -> float:
    return float(similarity.max(axis=1).mean())


def _all_said(claim: Claim, terms: frozenset[str], similarity: FloatMatrix | None) -> bool:
    """True if the other sentence says each of these words of ``claim`` in its own way."""
    return not terms or (similarity is not None and terms <= _said_otherwise(claim, similarity))


def _said_otherwise(claim: Claim, similarity: FloatMatrix) -> frozenset[str]:
    """Terms all of whose tokens are like a token of the other sentence."""
    likeness = similarity.max(axis=1)
    words: list[tuple[int, int, float]] = []
    for (start, end), value in zip(claim.spans, likeness, strict=True):
        if words and words[-1][1] == start and claim.text[start - 1 : start].isalnum():
            words[-1] = (words[-1][0], end, min(words[-1][2], float(value)))
        else:
            words.append((start, end, float(value)))
    alike = [claim.text[start:end] for start, end, value in words if value >= SAME_WORD]
    return frozenset(keyword_terms(" ".join(alike)))
