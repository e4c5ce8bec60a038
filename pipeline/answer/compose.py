"""From what the generator wrote to the answer a person gets.

The model's sentences are checked against the sources (``citations``). One that no source supports, that
holds a number, date, code or name of its own, or that only says the question again, gives way to the
evidence, word for word; where there is none left, it stays and is marked, and the outcome says ``partial``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from pipeline.answer.citations import Checked, checked_statements
from pipeline.answer.extractive import extractive_answer
from pipeline.answer.markers import write_markers, write_quote
from pipeline.answer.orders import is_ordered
from pipeline.answer.support import CitedSource, Passage, content_terms, shared
from pipeline.answer.tongue import in_another_language
from pipeline.answer.units import split_units, widened
from pipeline.answer.verdict import agrees, split_verdict
from pipeline.types import Answer, Chunk, Citation, Evidence, EvidenceSentence, Language, Mark

__all__ = ["compose"]

LONGEST_QUOTE = 500
"""Characters beyond which a sentence is quoted without its neighbours."""

ALREADY_SAID = 0.9
"""Share of a sentence's content words in the answer from which quoting it adds nothing."""

OFF_THE_POINT = 0.5
"""An answer that holds less of the question's words than this share of the best passage's answers another."""

SHORTEST_STEM = 3
LONGEST_ENDING = 2
"""Letters by which two stems of the same word may differ, and that they must share."""

_LABEL = re.compile(r"^\s*(?:ответ|answer)\s*:\s*", re.IGNORECASE)
_FINISHED = re.compile(r"[.!?…:;»\")\]`|]\s*$")


def compose(text: str, evidence: Evidence, language: Language, *, question: str = "") -> Answer:
    """The checked answer.

    Args:
        text: What the generator wrote; it may end in the middle of a sentence.
        evidence: The sources and sentences it rests on; numbers in ``text`` are places in ``evidence.hits``.
        language: Language of the question; a sentence in another one is not shown. Where none is left,
            the extract is.
        question: A sentence that says no more than this is no answer.
    """
    verdict, written = split_verdict(_LABEL.sub("", text).strip())
    if not written or in_another_language(written, language):
        return extractive_answer(evidence, language)
    sources = {n: CitedSource(n, hit) for n, hit in enumerate(evidence.hits, 1)}
    checked = checked_statements(written, sources)
    own = [one for one in _whole_sentences(checked, written) if not in_another_language(one.text, language)]
    asked = frozenset(content_terms(question))
    statements = _repaired(own, _quotable(evidence, sources), sources, asked)
    if evidence.passage is not None and _misses(statements, asked, evidence.passage, sources):
        statements = [_quoted(statements[0], evidence.passage)]
    if not any(statement.sound or statement.foreign for statement in statements):
        return extractive_answer(evidence, language)
    return _rendered(_with_verdict(verdict, statements), sources)


def _with_verdict(verdict: str, statements: Sequence[Checked]) -> list[Checked]:
    first, *rest = statements
    if not verdict or first.verbatim or not first.sound or not agrees(verdict, first.text):
        first = replace(first, text=first.text[:1].upper() + first.text[1:]) if verdict else first
        return [first, *rest]
    return [replace(first, text=f"{verdict} {first.text}"), *rest]


def _whole_sentences(statements: list[Checked], written: str) -> list[Checked]:
    """With a last sentence that the token limit cut off called loose, so that its source completes it.

    Items of a list end without a full stop by right.
    """
    if len(statements) < 2 or _FINISHED.search(written) or "\n" in statements[-1].lead:
        return statements
    *whole, last = statements
    return [*whole, replace(last, loose=True)] if last.sound and not last.foreign else whole


def _quotable(evidence: Evidence, sources: Mapping[int, CitedSource]) -> list[EvidenceSentence]:
    passage = () if evidence.passage is None else (evidence.passage,)
    quotes = (*passage, *evidence.sentences)
    return [
        quote
        for quote in quotes
        if quote.source in sources and not is_ordered(quote.chunk.text, quote.start, quote.end)
    ]


def _repaired(
    statements: Sequence[Checked],
    quotes: Sequence[EvidenceSentence],
    sources: Mapping[int, CitedSource],
    asked: Collection[str],
) -> list[Checked]:
    """Sentences that are not their source's give way to the source's own.

    A loose sentence, or one with a fact of its own, to the sentence it rests on; an unsupported one, one that
    only says the question again, or one that does what a document ordered, to the best evidence not said yet.
    When the evidence is used up it stays, and is marked if it is unsupported, but not if it obeys.
    """
    repaired: list[Checked] = []
    for statement in statements:
        verbatim = statement
        if statement.unsupported or statement.obedient or _echoes(statement, asked):
            said = frozenset(content_terms(" ".join(one.text for one in repaired)))
            quote = next((q for q in quotes if shared(content_terms(q.text), said) < ALREADY_SAID), None)
            if quote is None and statement.obedient:
                continue
            verbatim = statement if quote is None else _quoted(statement, quote)
        elif (statement.loose or statement.strange) and not statement.foreign:
            behind = _behind(statement, quotes, sources)
            verbatim = statement if behind is None else _quoted(statement, behind)
        if all(verbatim.text != one.text for one in repaired):
            repaired.append(verbatim)
    return repaired


def _echoes(statement: Checked, asked: Collection[str]) -> bool:
    """Whether a statement holds no word that is not in the question."""
    claim = content_terms(statement.text)
    return bool(claim) and not statement.foreign and all(_among(term, asked) for term in claim)


def _misses(
    statements: Sequence[Checked],
    asked: Collection[str],
    passage: EvidenceSentence,
    sources: Mapping[int, CitedSource],
) -> bool:
    """Whether the model answers another question, in words that its source supports.

    Then it holds, with the sentences behind it, far fewer of the question's words than the best passage.
    """
    if not statements or any(statement.foreign for statement in statements):
        return False
    said = set[str]()
    for statement in statements:
        claim = content_terms(statement.text)
        said.update(claim)
        for n in statement.numbers:
            behind = sources[n].best_passage(claim)
            said |= behind.terms if behind else frozenset()
    question = tuple(asked)
    best = shared(question, frozenset(content_terms(passage.text)))
    return bool(question) and shared(question, frozenset(said)) < OFF_THE_POINT * best


def _among(term: str, asked: Collection[str]) -> bool:
    """Whether a stem is in the question; stemmers cut forms of a word («запись», «записи») unevenly."""
    return any(
        term == other or (min(len(term), len(other)) >= SHORTEST_STEM and _begins(term, other))
        for other in asked
    )


def _begins(one: str, other: str) -> bool:
    return abs(len(one) - len(other)) <= LONGEST_ENDING and (one.startswith(other) or other.startswith(one))


def _behind(
    statement: Checked, quotes: Sequence[EvidenceSentence], sources: Mapping[int, CitedSource]
) -> EvidenceSentence | None:
    """The sentence of a cited source that says most of a statement; as the evidence quotes it, if it does.

    None where the cited sources hold no sentence at all.
    """
    claim = content_terms(statement.text)
    passages = {n: passage for n in statement.numbers if (passage := sources[n].best_passage(claim))}
    if not passages:
        return None
    n = max(passages, key=lambda n: (shared(claim, passages[n].terms), -n))
    own = _standing_alone(n, sources[n].chunk, passages[n])
    return next((q for q in quotes if q.source == n and q.start <= own.start and own.end <= q.end), own)


def _standing_alone(n: int, chunk: Chunk, passage: Passage) -> EvidenceSentence:
    """A sentence with what it needs to be understood: the list it announces, the sentence it leans on."""
    units = split_units(chunk.text)
    place = next((at for at, unit in enumerate(units) if unit.start <= passage.start < unit.end), None)
    if place is not None:
        first, last = widened(chunk.text, units, place)
        start, end = units[first].start, units[last].end
        if end - start <= LONGEST_QUOTE and not is_ordered(chunk.text, start, end):
            return EvidenceSentence(n, chunk, start, end, 0.0)
    return EvidenceSentence(n, chunk, passage.start, passage.end, 0.0)


def _quoted(statement: Checked, quote: EvidenceSentence) -> Checked:
    return Checked(statement.lead, quote.text.strip(), (quote.source,), verbatim=True)


def _rendered(statements: Sequence[Checked], sources: Mapping[int, CitedSource]) -> Answer:
    text = ""
    marks: list[Mark] = []
    citations: dict[tuple[int, int], Citation] = {}
    for statement in statements:
        text += statement.lead if text else ""
        start = len(text)
        text += _written(statement)
        if statement.unsupported:
            marks.append(Mark(start, len(text), "no_source"))
        marks += [Mark(start + fact.start, start + fact.end, fact.kind) for fact in statement.strange]
        for citation in _citations(statement, sources):
            citations.setdefault((citation.n, citation.start), citation)
    return Answer(
        text=text,
        outcome="partial" if marks else "answered",
        citations=tuple(citations.values()),
        marks=tuple(marks),
    )


def _written(statement: Checked) -> str:
    if statement.verbatim:
        return write_quote(statement.text, statement.numbers[0])
    return write_markers(statement.text, statement.numbers)


def _citations(statement: Checked, sources: Mapping[int, CitedSource]) -> list[Citation]:
    claim = content_terms(statement.text)
    citations: list[Citation] = []
    for n in statement.numbers:
        chunk = sources[n].chunk
        passage = sources[n].best_passage(claim)
        start, end = (passage.start, passage.end) if passage else (0, len(chunk.text))
        citations.append(Citation(n, chunk.id, chunk.text[start:end], chunk.start + start, chunk.start + end))
    return citations
