"""Whether the knowledge base holds an answer at all, decided before any language model is asked.

A logistic model over a few features of the best candidate gives a relevance between 0 and 1. Its
coefficients are in ``refusal.json``, made by ``benchmarks/fit_refusal.py`` from questions with and without
an answer. They hold for the embedder they were measured with, because the cosines of different embedders
lie in different ranges; for others there is a model over the features that no range enters.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.answer.calibration import STRICTNESS_STEP
from pipeline.rerankers.late_interaction import COVERAGE_WEIGHT, late_interaction_score, token_maxima
from pipeline.text.language import detect_language
from pipeline.text.stems import keyword_terms
from pipeline.types import Candidate, Language, QuestionTerm, Retrieval

__all__ = [
    "DEFAULT_THRESHOLD",
    "FEATURES",
    "Features",
    "RefusalModel",
    "is_abroad",
    "model_version",
    "own_gap",
    "refusal_features",
    "refusal_model",
    "relevance",
    "threshold_for",
]

DEFAULT_THRESHOLD = 0.5
"""The models are fitted so that this is the working point."""

FEATURES = ("late", "support", "coverage", "weakest", "margin", "lead", "foreign")
"""What each number of :func:`refusal_features` is, in order.

- ``late``: late-interaction score of the best candidate;
- ``support``: the same for the question's words, each weighted by its rarity;
- ``coverage``: share of the question's words it holds, weighted by rarity, 0..1; NaN if it is foreign;
- ``weakest``: the cosine that a quarter of the question's tokens do not reach in it;
- ``margin``: how far its late-interaction score lies above the mean of the other candidates';
- ``lead``: the margin in standard deviations of the others, at most 10;
- ``foreign``: 1 where it and most others are in another language than the question, and it shares few
  words with it, else 0. Meaning still compares across languages, a little lower, and words do not
  compare at all.
"""

FOREIGN_COVERAGE = 0.3
"""A passage that holds more of the question's words than this is not foreign, whatever its language."""

_WORD = re.compile(r"[^\W_]+(?:[-._][^\W_]+)*")
Features = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RefusalModel:
    """Logistic model over standardised features.

    Attributes:
        means: Mean of each feature where the model was fitted.
        deviations: Standard deviation likewise.
        coefficients: Weight of each standardised feature; 0 for one that is not used.
    """

    means: Features
    deviations: Features
    coefficients: Features
    intercept: float

    def log_odds(self, features: Features) -> float:
        """Log-odds of there being an answer; a feature that cannot be told (NaN) counts as average."""
        standard = np.nan_to_num((features - self.means) / self.deviations, nan=0.0, posinf=0.0, neginf=0.0)
        return float(standard @ self.coefficients) + self.intercept

    def probability(self, features: Features) -> float:
        """Relevance 0..1, see :meth:`log_odds`."""
        return _chance(self.log_odds(features))


def relevance(retrieval: Retrieval) -> float:
    """How likely the sources hold an answer, 0..1; 0 where nothing was found.

    The calibration of the index is taken into account, so that 0.5 is the working point of every base.
    """
    features = refusal_features(retrieval)
    if features is None:
        return 0.0
    shift, shift_abroad = retrieval.shifts
    odds = refusal_model(retrieval.embedder_id).log_odds(features)
    return _chance(odds - (shift_abroad if is_abroad(features) else shift))


def threshold_for(strictness: float) -> float:
    """The relevance below which an answer is refused: 0.5 at strictness 0, more where it is stricter."""
    return _chance(STRICTNESS_STEP * strictness)


def is_abroad(features: Features) -> bool:
    """Whether the evidence is in another language than the question."""
    return bool(features[FEATURES.index("foreign")])


def _chance(log_odds: float) -> float:
    return float(1.0 / (1.0 + np.exp(-np.clip(log_odds, -50.0, 50.0))))


def refusal_features(retrieval: Retrieval) -> Features | None:
    """What the decision rests on, float64 of shape (features,), see :data:`FEATURES`.

    Margin and lead are NaN where there are too few candidates to compare with. None where nothing was
    found.
    """
    looked_at = [c for c in retrieval.candidates if c.similarity is not None]
    if not looked_at:
        return None
    weights = np.array([term.weight for term in retrieval.terms], dtype=np.float64)
    late = np.array([_late(candidate) for candidate in looked_at])
    coverage = np.array([_share(candidate, weights) for candidate in looked_at])
    best = int(np.argmax(late + COVERAGE_WEIGHT * coverage))
    maxima = _maxima(looked_at[best])
    others = np.delete(late, best)
    margin = float(late[best] - others.mean()) if len(others) else np.nan
    spread = float(others.std()) if len(others) > 2 else 0.0
    foreign = coverage[best] <= FOREIGN_COVERAGE and _abroad(retrieval, looked_at, best)
    return np.array(
        [
            late[best],
            _support(retrieval, maxima),
            np.nan if foreign else coverage[best],
            float(np.quantile(maxima, 0.25)) if len(maxima) else 0.0,
            margin,
            min(margin / spread, 10.0) if spread > 1e-6 else np.nan,
            float(foreign),
        ]
    )


def _abroad(retrieval: Retrieval, looked_at: Sequence[Candidate], best: int) -> bool:
    """Whether the best candidate and at least half of all are in another language than the question.

    Where most are in its own, the base speaks that language, and a best passage that does not (a listing
    in a Russian manual, often) is only the least unlike one.
    """
    asked = detect_language(retrieval.query.search_text)
    if _language(looked_at[best].hit.chunk.text) == asked:
        return False
    return 2 * sum(_language(one.hit.chunk.text) != asked for one in looked_at) >= len(looked_at)


@lru_cache(maxsize=4096)
def _language(text: str) -> Language:
    return detect_language(text)


@lru_cache(maxsize=8)
def refusal_model(embedder_id: str) -> RefusalModel:
    """The model measured with an embedder, else the one for any embedder."""
    return _read(_entry(embedder_id))


def own_gap(embedder_id: str) -> float:
    """Log-odds from the middle of a base's own questions down to its worst real ones, as measured."""
    return float(_entry(embedder_id)["own_gap"])


def model_version(embedder_id: str) -> str:
    """Another one for every other model."""
    content = json.dumps(_entry(embedder_id), sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def _entry(embedder_id: str) -> Mapping[str, Any]:
    data = _data()
    entry: Mapping[str, Any] = data["embedders"].get(embedder_id, data["any"])
    return entry


@cache
def _data() -> Mapping[str, Any]:
    raw = resources.files(__package__).joinpath("refusal.json").read_text(encoding="utf-8")
    data: Mapping[str, Any] = json.loads(raw)
    return data


def _read(entry: Mapping[str, Any]) -> RefusalModel:
    def column(name: str) -> Features:
        return np.array([entry[name][feature] for feature in FEATURES], dtype=np.float64)

    return RefusalModel(column("means"), column("deviations"), column("coefficients"), entry["intercept"])


def _late(candidate: Candidate) -> float:
    return 0.0 if candidate.similarity is None else late_interaction_score(candidate.similarity)


def _maxima(candidate: Candidate) -> NDArray[np.float32]:
    empty = np.zeros(0, dtype=np.float32)
    return empty if candidate.similarity is None else token_maxima(candidate.similarity)


def _share(candidate: Candidate, weights: Features) -> float:
    total = float(weights.sum())
    return float(candidate.covered @ weights) / total if total > 0 else 0.0


def _support(retrieval: Retrieval, maxima: NDArray[np.float32]) -> float:
    """Mean of the best cosines of the question's words, each word weighted by its rarest term."""
    spans = retrieval.question.spans
    weights = _weights(retrieval.terms)
    total = found = 0.0
    for match in _WORD.finditer(retrieval.query.search_text):
        inside = (spans[:, 1] > match.start()) & (spans[:, 0] < match.end())
        weight = max((weights.get(term, 0.0) for term in keyword_terms(match.group())), default=0.0)
        if inside.any():
            found += weight * float(maxima[inside].mean())
            total += weight
    return found / total if total > 0 else float(maxima.mean()) if len(maxima) else 0.0


def _weights(terms: Sequence[QuestionTerm]) -> dict[str, float]:
    return {term.text: term.weight for term in terms}
