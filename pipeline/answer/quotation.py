"""The words of the source under the words of the model.

A small model drops a «не» or generalises, and no check of words notices; the sentence it rests on, word
for word, is right more often than the model (``docs/how-it-works.md``). A program that shows nothing but
``answer`` must still show what the answer rests on.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pipeline.answer.extractive import extractive_answer
from pipeline.answer.orders import gives_orders
from pipeline.answer.support import content_terms, shared
from pipeline.messages import text
from pipeline.types import Answer, Evidence, EvidenceSentence, Language

__all__ = ["with_quotation"]

SENTENCES = 2

QUOTED_CHARACTERS = 500
"""Longer evidence is shown among the sources only."""

ALREADY_SAID = 0.9
"""Share of a sentence's content words in the answer from which quoting it adds nothing."""

_NEGATION = re.compile(
    r"\b(?:не|ни|нет|нельзя|никогда|без|not|no|never|cannot|without|\w+n't)\b", re.IGNORECASE
)


def with_quotation(answer: Answer, evidence: Evidence, language: Language) -> Answer:
    """The answer with the best sentences of its cited sources beneath it, unless it repeats them anyway.

    Args:
        answer: A checked answer; offsets of its marks stay right.
        evidence: Sentences, best first.
        language: Language of the words around the quotation.
    """
    said = frozenset(content_terms(answer.text))
    cited = {citation.n for citation in answer.citations}
    best = [sentence for sentence in evidence.sentences if sentence.source in cited][:SENTENCES]
    quotes = tuple(sentence for sentence in best if _adds(sentence, answer.text, said))
    if not quotes:
        return answer
    extract = extractive_answer(replace(evidence, sentences=quotes), language)
    quoted = text("answers", "answer_quotation", language, quote=extract.text)
    known = {(citation.n, citation.start) for citation in answer.citations}
    new = tuple(citation for citation in extract.citations if (citation.n, citation.start) not in known)
    return replace(answer, text=f"{answer.text}\n\n{quoted}", citations=answer.citations + new)


def _adds(sentence: EvidenceSentence, answer: str, said: frozenset[str]) -> bool:
    if len(sentence.text) > QUOTED_CHARACTERS or gives_orders(sentence.text):
        return False
    dropped_negation = bool(_NEGATION.search(sentence.text)) and not _NEGATION.search(answer)
    return dropped_negation or shared(content_terms(sentence.text), said) < ALREADY_SAID
