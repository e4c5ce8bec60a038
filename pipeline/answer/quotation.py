"""The words of the source under the words of the model.

A small model leaves out a «не», mistakes who did what, or generalises, and no check of words notices; the
passage it rests on, word for word, is right more often than the model (``docs/decisions``). A program that
shows nothing but ``answer`` must still show what the answer rests on.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pipeline.answer.extractive import extractive_answer
from pipeline.answer.orders import is_ordered
from pipeline.answer.support import content_terms, negates, shared
from pipeline.messages import text
from pipeline.types import Answer, Evidence, EvidenceSentence, Language

__all__ = ["with_quotation"]

QUOTES = 2

QUOTED_CHARACTERS = 500
"""Longer evidence is shown among the sources only."""

SECOND_CHARACTERS = 300
"""The same for the second quote, which stands beside the first."""

NEARLY_AS_GOOD = 0.06
"""How far below the best passage a sentence may score and still be quoted beside it."""

ALREADY_SAID = 0.9
"""Share of a sentence's content words in the answer from which quoting it adds nothing."""

_CODE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


def with_quotation(answer: Answer, evidence: Evidence, language: Language) -> Answer:
    """The answer with the best passage of its sources beneath it, and the next best sentence.

    The sentence only where it scores nearly as well as the passage: search cannot tell then which of them
    answers. What the answer repeats anyway, or what is too long to be read at a glance, is not quoted.

    Args:
        answer: A checked answer; offsets of its marks stay right.
        evidence: Best passage, and sentences, best first.
        language: Language of the words around the quotation.
    """
    quotes: list[EvidenceSentence] = []
    for quote in _candidates(evidence):
        room = SECOND_CHARACTERS if quotes else QUOTED_CHARACTERS
        said = " ".join((answer.text, *(one.text for one in quotes)))
        if len(quotes) < QUOTES and len(quote.text) <= room and _adds(quote, said):
            quotes.append(quote)
    if not quotes:
        return answer
    extract = extractive_answer(replace(evidence, sentences=tuple(quotes)), language)
    quoted = text("answers", "answer_quotation", language, quote=extract.text)
    known = {(citation.n, citation.start) for citation in answer.citations}
    new = tuple(citation for citation in extract.citations if (citation.n, citation.start) not in known)
    return replace(answer, text=f"{answer.text}\n\n{quoted}", citations=answer.citations + new)


def _candidates(evidence: Evidence) -> list[EvidenceSentence]:
    best = evidence.passage
    if best is None:
        return list(evidence.sentences)
    return [best, *(one for one in evidence.sentences if one.score >= best.score - NEARLY_AS_GOOD)]


def _adds(quote: EvidenceSentence, said: str) -> bool:
    if is_ordered(quote.chunk.text, quote.start, quote.end) or _CODE.search(quote.text):
        return False
    if negates(quote.text) and not negates(said):
        return True
    return shared(content_terms(quote.text), frozenset(content_terms(said))) < ALREADY_SAID
