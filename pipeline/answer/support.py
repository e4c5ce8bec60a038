"""How far a passage supports a claim, by the words they share.

A claim of a generator is mostly made of the source's own words, so the share of its content stems that
the passage holds tells supported from invented claims without a model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.answer.fact_source import FactSource
from pipeline.answer.orders import without_orders
from pipeline.text.function_words import light_terms
from pipeline.text.language import detect_language
from pipeline.text.sentences import split_sentences
from pipeline.text.stems import keyword_terms
from pipeline.types import Chunk, Hit

__all__ = ["CitedSource", "Passage", "content_terms", "negates", "shared"]

_NEGATION = re.compile(
    r"\b(?:не|ни|нет|нельзя|никогда|без|запре[щт]\w*|недопуст\w+|невозможн\w+|нежелательн\w+|избега\w+|избеж\w+"
    r"|not|no|nor|none|never|cannot|without|avoid\w*|forbid\w*|prohibit\w*|impossible|\w+n['’]t)\b",
    re.IGNORECASE,
)


def content_terms(text: str) -> list[str]:
    """Stems and codes of a text that carry meaning, in order, each once."""
    return list(dict.fromkeys(term for term in keyword_terms(text) if term not in light_terms()))


def negates(text: str) -> bool:
    """True if the text holds a negation: a small model drops one easily, and no count of words notices."""
    return _NEGATION.search(text) is not None


def shared(claim: Sequence[str], passage: frozenset[str]) -> float:
    """Share of the claim's terms that the passage holds; 1 for a claim without any."""
    return sum(term in passage for term in claim) / len(claim) if claim else 1.0


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence of a source: offsets into the chunk's text, and its terms."""

    start: int
    end: int
    terms: frozenset[str]


class CitedSource:
    """A source that an answer may cite, prepared for checks.

    Args:
        n: Its number as shown to people.
        hit: The passage behind it. Sentences of it that give orders to a language model count as unsaid.

    Attributes:
        text: Title and text, orders left out.
        terms: Content terms of ``text``.
        title_terms: Content terms of the title alone.
        language: Language of the text.
        ordered: Content terms that only its orders to a model hold.
        facts: ``text``, prepared to look up facts.
        passages: Its sentences.
    """

    def __init__(self, n: int, hit: Hit) -> None:
        self.n = n
        self.chunk = hit.chunk
        said = without_orders(hit.chunk.text)
        self.text = "\n".join((_title(hit.chunk), said))
        self.title_terms = frozenset(content_terms(_title(hit.chunk)))
        self.language = detect_language(said)
        self.terms = frozenset(content_terms(self.text))
        self.ordered = frozenset(content_terms(hit.chunk.text)) - self.terms
        self.facts = FactSource(self.text)
        self.passages = tuple(
            Passage(start, end, frozenset(content_terms(hit.chunk.text[start:end])))
            for start, end in split_sentences(hit.chunk.text)
            if hit.chunk.text[start:end] in said
        )

    def best_passage(self, claim: Sequence[str]) -> Passage | None:
        """The sentence that shares most with a claim, the first of equals; None when nothing is shared."""
        best = max(self.passages, key=lambda passage: shared(claim, passage.terms), default=None)
        return best if best is not None and shared(claim, best.terms) > 0 else None


def _title(chunk: Chunk) -> str:
    return "\n".join(dict.fromkeys((*chunk.headings, chunk.topic)))
