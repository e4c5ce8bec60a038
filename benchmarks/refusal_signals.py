"""Signals of an answer that the refusal model does without: what each is, and its value for one retrieval.

They were tried because each is plausible; ``refusal.py --signals`` prints what each tells alone and what it
adds. A value is higher where an answer is likelier; NaN where it cannot be told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from pipeline.answer.sentences import choose_sentences
from pipeline.rerankers.late_interaction import COVERAGE_WEIGHT, late_interaction_score, token_maxima
from pipeline.text.function_words import function_terms
from pipeline.text.stems import keyword_terms
from pipeline.types import Candidate, Retrieval

__all__ = ["SIGNALS", "best_first", "signals"]

Floats = NDArray[np.float64]

_WORD = re.compile(r"[^\W_]+(?:[-._][^\W_]+)*")
_CODE = re.compile(r"[a-z0-9_]")
_HOW_MUCH = re.compile(
    r"сколько|скольк|процент|какой (?:порт|лимит|таймаут|размер)|how (?:many|much|long|old|far|often|large)"
    r"|what (?:percentage|number|year)",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"когда|в каком году|в каком веке|какого числа|\bwhen\b|\bwh(?:at|ich) year", re.IGNORECASE
)
_WHO = re.compile(r"\b(?:кто|кого|кому|кем|чей|чья|who|whom|whose)\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"\d+|\b(?:один|одна|два|две|три|четыре|пять|шесть|семь|восемь|девять|десять|сто|тысяч\w*|миллион\w*|"
    r"половин\w*|one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million|half)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,] )[A-ZА-ЯЁ][a-zа-яё]+")


def signals(found: Retrieval) -> Floats | None:
    """All of :data:`SIGNALS`, in their order; None where nothing was found."""
    candidates = best_first(found)
    if not candidates:
        return None
    return np.array([signal(found, candidates) for signal in SIGNALS.values()], dtype=np.float64)


def best_first(found: Retrieval) -> list[Candidate]:
    """Candidates in the order in which refusal looks at them."""
    weights = _weights(found)
    looked_at = [one for one in found.candidates if one.similarity is not None]
    return sorted(looked_at, key=lambda one: -_late(one) - COVERAGE_WEIGHT * _share(one.covered, weights))


def _whole_coverage(found: Retrieval, candidates: list[Candidate]) -> float:
    held = np.max([one.covered for one in candidates[:3]], axis=0)
    return _share(held, _weights(found))


def _heaviest_missing(found: Retrieval, candidates: list[Candidate]) -> float:
    weights = _weights(found)
    if not len(weights):
        return np.nan
    held = np.max([one.covered for one in candidates[:3]], axis=0)
    return -float((weights * (1 - held)).max() / weights.max())


def _codes(found: Retrieval, candidates: list[Candidate]) -> float:
    cyrillic = bool(re.search("[а-яё]", found.query.search_text, re.IGNORECASE))
    pattern = _CODE if cyrillic else re.compile(r"[\d_]")
    places = [place for place, term in enumerate(found.terms) if pattern.search(term.text)]
    if not places:
        return np.nan
    return _share(candidates[0].covered[places], _weights(found)[places])


def _unknown(found: Retrieval, _: list[Candidate]) -> float:
    unknown = np.array([not term.found_as for term in found.terms], dtype=np.float64)
    return -_share(unknown, _weights(found))


def _second(_: Retrieval, candidates: list[Candidate]) -> float:
    return _late(candidates[0]) - _late(candidates[1]) if len(candidates) > 1 else np.nan


def _keyword_margin(found: Retrieval, candidates: list[Candidate]) -> float:
    scores = np.array([_stage(one, "bm25")[0] for one in candidates])
    return float((scores[0] - scores.mean()) / (_weights(found).sum() or 1.0))


def _agreement(_: Retrieval, candidates: list[Candidate]) -> float:
    return float(sum(_stage(candidates[0], name)[1] == 1 for name in ("cosine", "bm25")))


def _dense_rank(_: Retrieval, candidates: list[Candidate]) -> float:
    return -float(np.log(_stage(candidates[0], "cosine")[1]))


def _weakest_word(found: Retrieval, candidates: list[Candidate]) -> float:
    """The content word that is matched worst, a common one counting less."""
    maxima = token_maxima(candidates[0].similarity)  # type: ignore[arg-type]
    weights = {term.text: term.weight for term in found.terms}
    spans = found.question.spans
    heaviest = max(weights.values(), default=1.0)
    values = []
    for match in _WORD.finditer(found.query.search_text):
        terms = keyword_terms(match.group())
        inside = (spans[:, 1] > match.start()) & (spans[:, 0] < match.end())
        if inside.any() and not all(term in function_terms() for term in terms):
            weight = max((weights.get(term, 0.0) for term in terms), default=0.0)
            values.append(1 - (1 - float(maxima[inside].mean())) * weight / heaviest)
    return min(values, default=np.nan)


def _kind_of_answer(found: Retrieval, _: list[Candidate]) -> float:
    """Whether the evidence has a number for "how many", a date for "when", a name for "who"."""
    question = found.query.search_text
    evidence = " ".join(sentence.text for sentence in choose_sentences(found, sources=3)[:4])
    for asked, wanted in ((_HOW_MUCH, _NUMBER), (_WHEN, _NUMBER), (_WHO, _NAME)):
        if asked.search(question):
            said = {match.group().lower() for match in wanted.finditer(question)}
            return float(any(match.group().lower() not in said for match in wanted.finditer(evidence)))
    return np.nan


def _length(found: Retrieval, _: list[Candidate]) -> float:
    return float(len(found.question))


SIGNALS: Mapping[str, Callable[[Retrieval, list[Candidate]], float]] = {
    "words held by the evidence as a whole": _whole_coverage,
    "the heaviest word that is missing": _heaviest_missing,
    "codes and identifiers held": _codes,
    "words the base does not know": _unknown,
    "lead over the second candidate": _second,
    "lead in keyword score": _keyword_margin,
    "first by meaning and by words too": _agreement,
    "rank by meaning": _dense_rank,
    "weakest content word, by rarity": _weakest_word,
    "a number, date or name as asked": _kind_of_answer,
    "length of the question": _length,
}


def _weights(found: Retrieval) -> Floats:
    return np.array([term.weight for term in found.terms], dtype=np.float64)


def _share(held: NDArray[np.floating], weights: Floats) -> float:
    total = float(weights.sum())
    return float(held @ weights) / total if total > 0 else 0.0


def _late(candidate: Candidate) -> float:
    return 0.0 if candidate.similarity is None else late_interaction_score(candidate.similarity)


def _stage(candidate: Candidate, name: str) -> tuple[float, int]:
    found = next((stage for stage in candidate.hit.stages if stage.name == name), None)
    return (found.score, found.rank) if found else (np.nan, 0)
