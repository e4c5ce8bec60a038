"""Whether two sentences of different sources say different things of the same.

Each must say all that the other says apart from one value (a number with the same unit, an amount, a date, a
time) or from a yes or no. A word that only one of them has is a condition or another subject («отпуск
инвалидов»), unless the token vectors show that the other says it in its own way. A contradiction that is none
misleads more than one that is missed, so whatever is doubtful counts as none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.answer.statement import Said, identifiers, said, subject_of_title
from pipeline.text.stems import keyword_terms
from pipeline.types import FloatMatrix, QuestionTerm

__all__ = ["Claim", "apart", "differ"]

SAME_WORD = 0.9
"""Cosine of token vectors from which a word is taken to be said by the other sentence too."""

SAME_SENTENCE = 0.84
"""Late interaction of two sentences, in the weaker direction, below which they are about different things."""

ON_THE_QUESTION = 0.5
"""Share of the question's weight that both sentences must hold themselves or in their titles."""


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


def differ(one: Claim, other: Claim, question: Sequence[QuestionTerm] = ()) -> tuple[str, str] | None:
    """What each of two sentences says where they contradict each other; None where they don't.

    Args:
        one: A sentence.
        other: A sentence of another source.
        question: The question's keywords; both sentences must be about it.
    """
    difference = apart(one, other)
    if difference is None or not _same_question(one, other, question):
        return None
    return difference if _same_subject(one, said(one.text), other, said(other.text)) else None


def apart(one: Claim, other: Claim) -> tuple[str, str] | None:
    """What each says where they say different things, be it of the same or not; needs no token vectors."""
    first, second = said(one.text), said(other.text)
    return _values_differ(one, first, other, second) or _signs_differ(one, first, other, second)


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
        if min(_likeness(one, first, similarity), _likeness(other, second, similarity.T)) < SAME_SENTENCE:
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


def _likeness(claim: Claim, parts: Said, similarity: FloatMatrix) -> float:
    """Late interaction of the words of ``claim`` apart from its values, which are to differ."""
    apart_from_values = [
        row
        for row, (start, end) in enumerate(claim.spans)
        if not any(value.start < end and start < value.end for value in parts.values)
    ]
    if not apart_from_values or not similarity.size:
        return 0.0
    return float(similarity[apart_from_values].max(axis=1).mean())


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
