"""From the records of a run to its figures.

A measure is a `Sample` over the questions it applies to; everything else (intervals, comparison with another
run, bars for continuous integration) works on samples, so a new measure is one entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from pipeline.evaluation.bootstrap import Figure, Sample, figure, quantile_figure
from pipeline.evaluation.questions import Reach
from pipeline.evaluation.ranking import ranking_values
from pipeline.evaluation.records import Record

__all__ = [
    "LOWER_IS_BETTER",
    "REACHES",
    "SPEED",
    "confusion",
    "figures",
    "known_measures",
    "places_for",
    "samples",
    "stage_quantiles",
]

REACHES: tuple[Reach, ...] = ("answerable", "near", "far", "unanswerable")

LOWER_IS_BETTER = frozenset(("refused_wrongly", "total_ms"))
"""Measures that get better by falling."""

SPEED = frozenset(("tokens_per_s", "total_ms"))
"""Measures of the machine as much as of the product."""

QUANTILES = (0.5, 0.95, 0.99)

Rows = Iterator[tuple[str, float, float]]


def places_for(top_k: int) -> list[int]:
    """The places that hits are counted to, of so many sources."""
    return sorted({1, min(3, top_k), top_k})


def known_measures(top_k: int) -> list[str]:
    """Every measure that a run with so many sources may have."""
    places = places_for(top_k)
    ranked = [f"{name}@{k}" for k in places if k > 1 for name in ("recall", "precision", "ndcg")]
    return [*(f"hit@{k}" for k in places), "mrr", *ranked, *_MEASURES]


def samples(records: Sequence[Record], ks: Sequence[int]) -> dict[str, Sample]:
    """Measure -> its values; those that no question tells anything of are left out."""
    answerable = {record.key: record.ranking for record in records if record.question.is_answerable}
    found = {
        name: Sample.of([(key, value, 1.0) for key, value in values.items()])
        for name, values in ranking_values(answerable, ks).items()
    }
    for name, rows in _MEASURES.items():
        found[name] = Sample.of([row for record in records for row in rows(record)])
    return {name: sample for name, sample in found.items() if sample.weights.sum()}


def figures(found: Mapping[str, Sample]) -> dict[str, Figure]:
    """Measure -> its figure."""
    return {name: one for name, sample in found.items() if (one := figure(sample)) is not None}


def confusion(records: Sequence[Record]) -> dict[Reach, dict[Literal["answered", "refused"], int]]:
    """How many questions of each reach were answered and refused; only reaches that occur."""
    table: dict[Reach, dict[Literal["answered", "refused"], int]] = {}
    for reach in REACHES:
        refused = [record.is_refused for record in records if record.question.reach == reach]
        if refused:
            table[reach] = {"answered": len(refused) - sum(refused), "refused": sum(refused)}
    return table


def stage_quantiles(records: Sequence[Record]) -> dict[str, dict[float, Figure]]:
    """Stage -> share -> milliseconds that so many of the questions did not exceed."""
    stages = dict.fromkeys(stage for record in records for stage in record.timings_ms)
    table: dict[str, dict[float, Figure]] = {}
    for stage in sorted(stages, key=lambda name: name == "total"):
        times = [record.timings_ms[stage] for record in records if stage in record.timings_ms]
        table[stage] = {
            share: found for share in QUANTILES if (found := quantile_figure(times, share)) is not None
        }
    return table


def _told(record: Record, value: float | None) -> Rows:
    """One row where the value is known and the question has an answer."""
    if value is not None and record.question.is_answerable:
        yield record.key, float(value), 1.0


def _refused_wrongly(record: Record) -> Rows:
    if record.question.is_answerable:
        yield record.key, float(record.is_refused), 1.0


def _refusal_recall(record: Record) -> Rows:
    if not record.question.is_answerable:
        yield record.key, float(record.is_refused), 1.0


def _refusal_precision(record: Record) -> Rows:
    # A row for every question: which are refused differs between runs, and both must be paired.
    yield record.key, float(record.is_refused and not record.question.is_answerable), float(record.is_refused)


def _refused(reach: Reach, record: Record) -> Rows:
    if record.question.reach == reach:
        yield record.key, float(record.is_refused), 1.0


def _citations(record: Record) -> Rows:
    yield record.key, float(record.valid_markers), float(record.markers)


def _cited(record: Record) -> Rows:
    if not record.is_refused:
        yield record.key, float(record.markers > 0), 1.0


def _faithful(record: Record) -> Rows:
    if record.sentences is not None:
        yield record.key, float(sum(one.supported for one in record.sentences)), float(len(record.sentences))


def _tokens(record: Record) -> Rows:
    if record.written_tokens and record.writing_s:
        yield record.key, float(record.written_tokens - 1), record.writing_s


def _judged(record: Record, what: Literal["faithful", "relevant", "correct"]) -> Rows:
    value = None if record.verdict is None else getattr(record.verdict, what)
    if value is not None:
        yield record.key, float(value), 1.0


def _total_ms(record: Record) -> Rows:
    yield record.key, record.timings_ms.get("total", 0.0), 1.0


_MEASURES: Mapping[str, Callable[[Record], Rows]] = {
    "shown": lambda record: _told(record, record.shown),
    "match": lambda record: _told(record, record.matches),
    "f1": lambda record: _told(record, record.f1),
    "word_recall": lambda record: _told(record, record.word_recall),
    "refused_wrongly": _refused_wrongly,
    "refusal_precision": _refusal_precision,
    "refusal_recall": _refusal_recall,
    "refusal_recall_near": lambda record: _refused("near", record),
    "refusal_recall_far": lambda record: _refused("far", record),
    "cited": _cited,
    "citations_valid": _citations,
    "faithfulness": _faithful,
    "relevance": lambda record: _told(record, record.relevance),
    "tokens_per_s": _tokens,
    "total_ms": _total_ms,
    "judge_faithful": lambda record: _judged(record, "faithful"),
    "judge_relevant": lambda record: _judged(record, "relevant"),
    "judge_correct": lambda record: _judged(record, "correct"),
}
