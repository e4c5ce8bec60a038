"""Whether a sentence of an answer says what its cited passage says, without a second language model.

Late interaction over the embedder's token vectors tells how well every word of the sentence is met by the
best two neighbouring sentences of the passage; stems tell which of its words stand there; figures, dates,
codes and names must stand in the passage (`pipeline.answer.fact_source`), and a «не» on one side only speaks
against it. A logistic model puts these together; it is fitted to sentences labelled by hand, and
``benchmarks/faithfulness.py`` says how far it agrees with them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.answer.facts import find_facts
from pipeline.answer.markers import split_statements
from pipeline.answer.support import CitedSource, content_terms, negates
from pipeline.answer.units import split_units
from pipeline.messages import text as message
from pipeline.ports import Embedder
from pipeline.rerankers.late_interaction import similarity_matrix
from pipeline.retrieval.question import encode_question
from pipeline.text.embedded import embedded_with_map
from pipeline.text.language import detect_language
from pipeline.types import Chunk, FloatMatrix, Hit, TokenVectors

__all__ = ["SIGNS", "Faithfulness", "Sentence", "Signs", "chance", "claims_of"]

SIGNS = ("late", "weakest", "words", "strange", "opposed", "abroad")
"""What each number of `Signs.row` is, in order."""

WEIGHTS = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
INTERCEPT = 0.0
THRESHOLD = 0.5
"""Fitted by ``benchmarks/faithfulness.py --fit``."""

Reason = Literal["", "unlike", "fact", "negation", "no_source"]

_WINDOW = 2
_WEAK_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for and against a sentence.

    Attributes:
        late: Mean over its tokens of the best cosine with the passage, -1..1.
        weakest: The same over the quarter of its content tokens that are met worst.
        words: Share of its content stems in the passage's sentences, 0..1.
        strange: Its figures, dates, codes and names that no cited passage holds.
        opposed: True if only one of the two denies.
        abroad: True if the passage is in another language: its words cannot be expected to recur.
    """

    late: float
    weakest: float
    words: float
    strange: int
    opposed: bool
    abroad: bool

    def row(self) -> tuple[float, ...]:
        """As the model takes it."""
        words = 1.0 if self.abroad else self.words
        return (
            self.late,
            self.weakest,
            words,
            float(min(self.strange, 2)),
            float(self.opposed),
            float(self.abroad),
        )


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer and what became of it.

    Attributes:
        numbers: Of the sources it cites.
        chance: 0..1, how likely it is supported.
        reason: What speaks against it, where it is not.
    """

    text: str
    numbers: tuple[int, ...]
    chance: float
    supported: bool
    reason: Reason


class Faithfulness:
    """Judges sentences by the passages they cite.

    Args:
        embedder: Any that yields token vectors; the weights were fitted with multilingual-e5-small.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def judge(self, answer: str, chunks: Mapping[int, Chunk]) -> list[Sentence]:
        """Every sentence of an answer that claims something.

        Args:
            answer: With its markers.
            chunks: The passages by the numbers that the markers may name.
        """
        passages: dict[int, _Passage] = {}
        judged: list[Sentence] = []
        for claim, numbers in claims_of(answer, tuple(chunks)):
            for n in numbers:
                if n not in passages:
                    passages[n] = _Passage(n, chunks[n], self._embedder)
            judged.append(self._judged(claim, numbers, [passages[n] for n in numbers]))
        return judged

    def signs(self, claim: str, chunks: Sequence[Chunk]) -> Signs:
        """What speaks for a claim and against it, by the best of the passages.

        Args:
            claim: One sentence without markers.
            chunks: At least one.
        """
        return self._signs(claim, [_Passage(n, chunk, self._embedder) for n, chunk in enumerate(chunks, 1)])

    def _judged(self, claim: str, numbers: tuple[int, ...], passages: Sequence[_Passage]) -> Sentence:
        if not passages:
            return Sentence(claim, numbers, 0.0, supported=False, reason="no_source")
        signs = self._signs(claim, passages)
        likely = chance(signs)
        supported = likely >= THRESHOLD
        reason: Reason = "fact" if signs.strange else "negation" if signs.opposed else "unlike"
        return Sentence(claim, numbers, likely, supported, "" if supported else reason)

    def _signs(self, claim: str, passages: Sequence[_Passage]) -> Signs:
        _, tokens = encode_question(claim, self._embedder)
        stems = content_terms(claim)
        strange = sum(
            not any(passage.source.facts.holds(fact) for passage in passages) for fact in find_facts(claim)
        )
        found = [passage.met(claim, tokens, stems, strange) for passage in passages]
        return max(found, key=chance)


class _Passage:
    """A cited chunk, encoded once for all sentences that cite it."""

    def __init__(self, n: int, chunk: Chunk, embedder: Embedder) -> None:
        self.source = CitedSource(n, Hit(chunk, 0.0, n))
        made = embedded_with_map(chunk.topic, chunk.text)
        (tokens,) = embedder.encode([made.text], "passage", with_tokens=True).tokens or ()
        self._vectors = tokens.vectors
        self._starts = made.spans_in_chunk(tokens.spans)[:, 0]
        self._language = detect_language(chunk.text)
        self._windows = _windows(chunk.text)
        self._text = chunk.text

    def met(self, claim: str, tokens: TokenVectors, stems: Sequence[str], strange: int) -> Signs:
        """How well the best window of the passage meets a claim."""
        similarity = similarity_matrix(tokens.vectors, self._vectors)
        content = _content_rows(claim, tokens)
        abroad = detect_language(claim) != self._language
        best: Signs | None = None
        for start, end in self._windows:
            columns = ((self._starts >= start) & (self._starts < end)) | (self._starts < 0)
            late, weakest = _met(similarity[:, columns], content)
            said = self._text[start:end]
            terms = frozenset(content_terms(said)) | self.source.title_terms
            words = sum(stem in terms for stem in stems) / len(stems) if stems else 1.0
            signs = Signs(late, weakest, words, strange, negates(claim) != negates(said), abroad)
            if best is None or chance(signs) > chance(best):
                best = signs
        return best or Signs(0.0, 0.0, 0.0, strange, opposed=False, abroad=abroad)


def claims_of(answer: str, known: Sequence[int]) -> list[tuple[str, tuple[int, ...]]]:
    """The sentences of an answer that claim something, with the numbers they cite.

    The quotation beneath an answer is left out: it is the source's own by construction and would only
    flatter. So is what opens a list, and a bare yes or no.
    """
    prose = answer
    for language in ("ru", "en"):
        prose = prose.split("\n\n" + message("answers", "answer_quotation", language, quote="").strip())[0]
    return [
        (statement.text, statement.numbers)
        for statement in split_statements(prose, known)
        if content_terms(statement.text) and not statement.text.endswith(":")
    ]


def chance(signs: Signs) -> float:
    """0..1, how likely a sentence with these signs is supported."""
    total = float(np.dot(signs.row(), WEIGHTS)) + INTERCEPT
    return float(1 / (1 + np.exp(-np.clip(total, -50, 50))))


def _windows(text: str) -> list[tuple[int, int]]:
    """Ranges of every sentence with its next neighbours; a claim may join what two of them say."""
    units = split_units(text)
    last = len(units) - 1
    return [(unit.start, units[min(place + _WINDOW - 1, last)].end) for place, unit in enumerate(units)]


_WORD = re.compile(r"\w+")


def _content_rows(claim: str, tokens: TokenVectors) -> NDArray[np.bool_]:
    """Which tokens belong to words that carry meaning; all where none does."""
    spans = [match.span() for match in _WORD.finditer(claim) if content_terms(match.group())]
    rows = np.array(
        [any(start < end_ and begin < end for begin, end_ in spans) for start, end in tokens.spans.tolist()],
        dtype=np.bool_,
    )
    return rows if rows.any() else np.ones(len(tokens), dtype=np.bool_)


def _met(similarity: FloatMatrix, content: NDArray[np.bool_]) -> tuple[float, float]:
    if not similarity.size:
        return 0.0, 0.0
    maxima = similarity.max(axis=1)
    weak = np.sort(maxima[content])
    count = max(1, round(len(weak) * _WEAK_SHARE))
    return float(maxima.mean()), float(weak[:count].mean())
