"""Whether a sentence of an answer says what its cited passage says, without a second language model.

The sentence is held against every sentence of the passage. Late interaction over the embedder's token vectors
tells how well its words are met there, the worst of them above all; stems tell which of them stand there;
figures, dates, codes and names must (`pipeline.answer.fact_source`), with the same bound; a «не» on one side
only speaks against it. A logistic model puts these together. It is fitted to sentences labelled by hand, and
``benchmarks/faithfulness.py`` says how far it agrees with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.answer.fact_source import FactSource
from pipeline.answer.facts import find_facts
from pipeline.answer.markers import Statement, split_statements
from pipeline.answer.support import content_terms, negates
from pipeline.answer.units import split_units
from pipeline.answer.values import Value, values_of
from pipeline.messages import text as message
from pipeline.ports import Embedder
from pipeline.rerankers.late_interaction import similarity_matrix
from pipeline.retrieval.question import encode_question
from pipeline.text.embedded import embedded_with_map
from pipeline.text.language import detect_language
from pipeline.text.word_tokens import word_vectors
from pipeline.types import Chunk, FloatMatrix, TokenVectors

__all__ = ["SIGNS", "Faithfulness", "Sentence", "Signs", "chance", "claims_of"]

SIGNS = ("late", "weakest", "words", "strange", "opposed", "bound")
"""What each number of `Signs.row` is, in order."""

WEIGHTS = (8.526, 4.577, 3.289, -1.786, -0.762, -3.031)
INTERCEPT = -12.84
"""Made by ``benchmarks/faithfulness.py --fit``."""
THRESHOLD = 0.5
"""Above it a sentence counts as supported."""

Reason = Literal["", "unlike", "fact", "negation", "no_source"]

_WEAK_SHARE = 0.25
_MOST_STRANGE = 2


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for and against a sentence, held against one sentence of a passage and its title.

    Attributes:
        late: Mean over its tokens of the best cosine, -1..1.
        weakest: The same over the quarter of its content tokens that are met worst.
        words: Share of its content stems that stand there, 0..1; 1 where the languages differ.
        strange: Its figures, dates, codes and names that do not.
        opposed: True if only one of the two denies.
        bound: True if a figure stands there with another bound: «до 600» is not «600».
    """

    late: float
    weakest: float
    words: float
    strange: int
    opposed: bool
    bound: bool

    def row(self) -> tuple[float, ...]:
        """As the model takes it."""
        strange = float(min(self.strange, _MOST_STRANGE))
        return (self.late, self.weakest, self.words, strange, float(self.opposed), float(self.bound))

    @classmethod
    def of_row(cls, row: Sequence[float]) -> Signs:
        """What ``row`` made."""
        late, weakest, words, strange, opposed, bound = row
        return cls(late, weakest, words, int(strange), bool(opposed), bool(bound))

    @property
    def nearness(self) -> float:
        """By which the sentence of a passage is chosen that a claim is held against."""
        return self.late + 0.3 * self.words - 0.1 * self.strange


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
                    passages[n] = _Passage(chunks[n], self._embedder)
            judged.append(self._judged(claim, numbers, [passages[n] for n in numbers]))
        return judged

    def signs(self, claim: str, chunks: Sequence[Chunk]) -> Signs:
        """What speaks for a claim and against it, by the best of the passages.

        Args:
            claim: One sentence without markers.
            chunks: At least one.
        """
        return self._signs(claim, [_Passage(chunk, self._embedder) for chunk in chunks])

    def _judged(self, claim: str, numbers: tuple[int, ...], passages: Sequence[_Passage]) -> Sentence:
        if not passages:
            return Sentence(claim, numbers, 0.0, supported=False, reason="no_source")
        if claim.endswith("?"):
            return Sentence(claim, numbers, 0.0, supported=False, reason="unlike")  # said again, not answered
        signs = self._signs(claim, passages)
        likely = chance(signs)
        supported = likely >= THRESHOLD
        reason: Reason = "fact" if signs.strange or signs.bound else "negation" if signs.opposed else "unlike"
        return Sentence(claim, numbers, likely, supported, "" if supported else reason)

    def _signs(self, claim: str, passages: Sequence[_Passage]) -> Signs:
        _, tokens = encode_question(claim, self._embedder)
        made = _Claim(claim, tokens)
        found = [signs for passage in passages for signs in passage.met(made)]
        nothing = Signs(0.0, 0.0, 0.0, len(made.facts), opposed=False, bound=False)
        return max(found, key=lambda one: one.nearness, default=nothing)


class _Claim:
    """A sentence of an answer, prepared to be held against many of a source."""

    def __init__(self, text: str, tokens: TokenVectors) -> None:
        self.text = text
        self.tokens = tokens
        self.content = _content_rows(text, tokens)
        self.stems = content_terms(text)
        self.facts = find_facts(text)
        self.values = values_of(text, self.facts)
        self.language = detect_language(text)


class _Passage:
    """A cited chunk, encoded once for all sentences that cite it."""

    def __init__(self, chunk: Chunk, embedder: Embedder) -> None:
        made = embedded_with_map(chunk.topic, chunk.text)
        encoded = embedder.encode([made.text], "passage", with_tokens=True)
        tokens = word_vectors(made.text) if encoded.tokens is None else encoded.tokens[0]
        self._vectors = tokens.vectors
        self._starts = made.spans_in_chunk(tokens.spans)[:, 0]
        self._language = detect_language(chunk.text)
        self._title = "\n".join(dict.fromkeys((*chunk.headings, chunk.topic)))
        units = split_units(chunk.text)
        self._sentences = [
            _Sentence(unit.start, unit.end, chunk.text[unit.start : unit.end], self._title) for unit in units
        ]

    def met(self, claim: _Claim) -> Iterator[Signs]:
        """How well each sentence of the passage meets a claim."""
        similarity = similarity_matrix(claim.tokens.vectors, self._vectors)
        in_title = self._starts < 0
        for sentence in self._sentences:
            columns = ((self._starts >= sentence.start) & (self._starts < sentence.end)) | in_title
            late, weakest = _met(similarity[:, columns], claim.content)
            words = 1.0
            if claim.stems and claim.language == self._language:
                words = sum(stem in sentence.terms for stem in claim.stems) / len(claim.stems)
            yield Signs(
                late,
                weakest,
                words,
                strange=sum(not sentence.facts.holds(fact) for fact in claim.facts),
                opposed=negates(claim.text) != sentence.denies,
                bound=any(_bound_differs(value, sentence.values) for value in claim.values),
            )


class _Sentence:
    """One sentence of a passage; its title counts as said with it."""

    def __init__(self, start: int, end: int, text: str, title: str) -> None:
        self.start, self.end = start, end
        self.terms = frozenset(content_terms(f"{title}\n{text}"))
        self.facts = FactSource(f"{title}\n{text}")
        self.values = values_of(text, find_facts(text))
        self.denies = negates(text)


def claims_of(answer: str, known: Sequence[int]) -> list[tuple[str, tuple[int, ...]]]:
    """The sentences of an answer that claim something, with the numbers they cite.

    A marker stands for the sentences before it, too, and one in the first line of a list for the list: a
    sentence without one has that of the next sentence of its paragraph, else of the one before.

    The quotation beneath an answer is left out: it is the source's own by construction and would only
    flatter. So is what opens a list, and a bare yes or no.
    """
    prose = answer
    for language in ("ru", "en"):
        prose = prose.split("\n\n" + message("answers", "answer_quotation", language, quote="").strip())[0]
    claims: list[tuple[str, tuple[int, ...]]] = []
    for paragraph in _paragraphs(split_statements(prose, known)):
        cited = _inherited([statement.numbers for statement in paragraph])
        claims += [
            (statement.text, numbers)
            for statement, numbers in zip(paragraph, cited, strict=True)
            if content_terms(statement.text) and not statement.text.endswith(":")
        ]
    return claims


def _paragraphs(statements: Sequence[Statement]) -> list[list[Statement]]:
    """Statements between empty lines; what a colon announces belongs to it."""
    paragraphs: list[list[Statement]] = []
    for statement in statements:
        announced = bool(paragraphs) and paragraphs[-1][-1].text.endswith(":")
        if not paragraphs or ("\n\n" in statement.lead and not announced):
            paragraphs.append([])
        paragraphs[-1].append(statement)
    return paragraphs


def _inherited(cited: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    found = list(cited)
    for place in range(len(found) - 2, -1, -1):
        found[place] = found[place] or found[place + 1]
    for place in range(1, len(found)):
        found[place] = found[place] or found[place - 1]
    return found


def chance(signs: Signs) -> float:
    """0..1, how likely a sentence with these signs is supported."""
    total = float(np.dot(signs.row(), WEIGHTS)) + INTERCEPT
    return float(1 / (1 + np.exp(-np.clip(total, -50, 50))))


def _bound_differs(value: Value, others: Sequence[Value]) -> bool:
    same = [other for other in others if not value.amounts.isdisjoint(other.amounts)]
    return bool(same) and all(value.bound != other.bound for other in same)


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
