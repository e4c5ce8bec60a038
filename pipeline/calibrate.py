"""The calibration of refusal for one index, made when it is built.

Two samples are asked of the index: questions about other things, and questions made of its own sentences.
What comes of them depends on the index and the embedder alone, so a mended index and a rebuilt one are
calibrated alike. About 100 searches: half a second on two free cores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.answer.calibration import STRICTNESS_STEP, foreign_questions, shift, shift_abroad
from pipeline.answer.own_questions import own_questions
from pipeline.answer.refusal import (
    Features,
    RefusalModel,
    is_abroad,
    model_version,
    own_gap,
    refusal_features,
    refusal_model,
)
from pipeline.index import Calibration, Index
from pipeline.ports import Embedder, EmbedderSpec, Progress
from pipeline.retrieval.search import retrieve
from pipeline.settings import SearchSettings
from pipeline.text.language import detect_language
from pipeline.types import Encoded, IntMatrix, Language, Query, Retrieval, Role

__all__ = [
    "Samples",
    "ask_samples",
    "calibrate",
    "calibrated",
    "fitted",
    "in_force",
    "is_calibrated",
    "method",
]

RULES = 1
"""Goes up when the questions or the rules of `pipeline.answer.calibration` change."""
OWN = 48
SPOKEN, UNSPOKEN = 40, 16
"""Foreign questions in the base's main language, and in the other one."""
STEPS = range(-2, 3)
"""Values of ``search.strictness``."""
SIGNIFICANT = 4


@dataclass(frozen=True, slots=True)
class Samples:
    """Features of the questions of a calibration.

    Attributes:
        foreign: Of questions about other things.
        own: Of questions made of the base's sentences.
        missing: Of the same ones, had the base never held the document they are made of.
    """

    foreign: tuple[Features, ...]
    own: tuple[Features, ...]
    missing: tuple[Features, ...]


def calibrated(index: Index, embedder: Embedder) -> Index:
    """The index with its calibration."""
    return replace(index, calibration=calibrate(index, embedder))


def calibrate(index: Index, embedder: Embedder) -> Calibration:
    """Ask the samples and put the threshold where they say; the product's own for a base without sentences.

    Args:
        index: The index; a calibration it already has is not looked at.
        embedder: The one it was made with.
    """
    identity = embedder.spec.id
    return fitted(ask_samples(index, embedder), refusal_model(identity), own_gap(identity), method(identity))


def fitted(samples: Samples, model: RefusalModel, gap: float, named: str = "") -> Calibration:
    """The calibration that follows from the samples; ``gap`` as for `pipeline.answer.calibration.shift`."""
    here = [model.log_odds(one) for one in samples.foreign if not is_abroad(one)]
    own = [model.log_odds(one) for one in samples.own if not is_abroad(one)]
    abroad = [model.log_odds(one) for one in samples.foreign if is_abroad(one)]
    shifts = round(shift(here, own, gap), SIGNIFICANT), round(shift_abroad(abroad), SIGNIFICANT)

    def refused(asked: Sequence[Features]) -> tuple[float, ...]:
        above = np.array([model.log_odds(one) - shifts[is_abroad(one)] for one in asked])
        if not len(above):
            return ()
        return tuple(round(float((above < STRICTNESS_STEP * step).mean()), SIGNIFICANT) for step in STEPS)

    return Calibration(
        method=named,
        shift=shifts[0],
        shift_abroad=shifts[1],
        own=len(samples.own),
        foreign=len(samples.foreign),
        refused_own=refused(samples.own),
        refused_foreign=refused(samples.foreign),
        refused_missing=refused(samples.missing),
    )


def is_calibrated(index: Index) -> bool:
    """Whether the index has a calibration, and one of today's method."""
    found = index.calibration
    return found is not None and found.method == method(index.manifest.embedder_id)


def in_force(index: Index) -> Index:
    """The index without a calibration that was made for another model of refusal."""
    return index if index.calibration is None or is_calibrated(index) else replace(index, calibration=None)


def method(embedder_id: str) -> str:
    """What a calibration made today would be made with."""
    return f"{RULES}-{model_version(embedder_id)}"


def ask_samples(index: Index, embedder: Embedder) -> Samples:
    """Ask everything; questions that find nothing at all are left out."""
    own = own_questions(index.chunks, OWN)
    foreign = list(_foreign(_main_language(chunk.text for chunk, _ in own)))
    plain = replace(index, calibration=None)
    known = _Encoded(embedder, [question for _, question in own] + foreign)

    def search(question: str) -> Retrieval:
        return retrieve(Query(question, question), plain, known, SearchSettings())

    found = [(chunk, search(question)) for chunk, question in own]
    return Samples(
        foreign=_features(search(question) for question in foreign),
        own=_features(retrieval for _, retrieval in found),
        missing=_features(_without(retrieval, chunk.file) for chunk, retrieval in found),
    )


def _features(found: Iterable[Retrieval]) -> tuple[Features, ...]:
    known = (refusal_features(retrieval) for retrieval in found)
    return tuple(features for features in known if features is not None)


def _without(retrieval: Retrieval, file: str) -> Retrieval:
    """As if the base had never held this file; only the candidates, the words keep their weights."""
    kept = tuple(one for one in retrieval.candidates if one.hit.chunk.file != file)
    return replace(retrieval, candidates=kept, hits=tuple(one.hit for one in kept[: len(retrieval.hits)]))


def _foreign(main: Language) -> Iterable[str]:
    other: Language = "en" if main == "ru" else "ru"
    for language, count in ((main, SPOKEN), (other, UNSPOKEN)):
        questions = foreign_questions(language)
        # Evenly over the subjects, which stand together.
        yield from (questions[place * len(questions) // count] for place in range(count))


def _main_language(texts: Iterable[str]) -> Language:
    languages = [detect_language(text) for text in texts]
    return "en" if languages.count("en") > len(languages) / 2 else "ru"


class _Encoded:
    """An embedder that has encoded these questions in one go, on all cores."""

    def __init__(self, embedder: Embedder, questions: Sequence[str]) -> None:
        self._embedder = embedder
        within = [
            q for q in dict.fromkeys(questions) if len(embedder.token_spans(q)) <= self.spec.token_limit
        ]
        encoded = embedder.encode(within, "query", with_tokens=True)
        tokens = encoded.tokens
        self._known: Mapping[str, Encoded] = {
            question: Encoded(encoded.vectors[row : row + 1], tokens and (tokens[row],))
            for row, question in enumerate(within)
        }

    @property
    def spec(self) -> EmbedderSpec:
        return self._embedder.spec

    def encode(
        self,
        texts: Sequence[str],
        role: Role,
        *,
        with_tokens: bool = False,
        progress: Progress | None = None,
    ) -> Encoded:
        known = self._known.get(texts[0]) if role == "query" and len(texts) == 1 else None
        return known or self._embedder.encode(texts, role, with_tokens=with_tokens, progress=progress)

    def token_spans(self, text: str) -> IntMatrix:
        return self._embedder.token_spans(text)
