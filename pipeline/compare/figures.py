"""From trials to the figures of each way, with intervals and a paired test against the default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.compare.trial import Trial
from pipeline.compare.ways import WHOLE, Way
from pipeline.evaluation.bootstrap import Figure, Sample, chances, change, figure, paired
from pipeline.evaluation.ranking import ranking_values

__all__ = ["LOWER_IS_BETTER", "MEASURES", "Against", "Summary", "summaries"]

MEASURES = ("hit@1", "hit@3", "mrr", "recall", "refused_wrongly", "refused_rightly", "tokens", "ms")
"""What is counted of every way. ``recall`` is of the right places among all sources looked at; ``tokens`` and
``ms`` are means over all questions, the rest shares of 0..1."""

LOWER_IS_BETTER = frozenset(("refused_wrongly", "tokens", "ms"))

TESTED = ("hit@1", "hit@3", "mrr")
"""What is held against the default."""


@dataclass(frozen=True, slots=True)
class Against:
    """What a way does otherwise than the default, over the same questions.

    Attributes:
        low, high: 95 % interval of the difference.
        p: How likely it is by luck that any of all the compared figures differs as much.
    """

    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Summary:
    """One way over a set.

    Attributes:
        figures: Measure -> mean with its interval; one that no question tells anything of is missing.
        against: Measure -> what is different from the default way; empty of the default itself.
        saving: Share of the tokens without any search that it spares; None where that was not asked.
    """

    way: Way
    figures: Mapping[str, Figure]
    against: Mapping[str, Against]
    saving: float | None


def summaries(trials: Iterable[Trial], default: Way) -> list[Summary]:
    """The figures of every way, in the order in which the ways first occur."""
    by_way: dict[Way, list[Trial]] = {}
    for trial in trials:
        by_way.setdefault(trial.way, []).append(trial)
    found = {way: _samples(some) for way, some in by_way.items()}
    whole = next((samples for way, samples in found.items() if way.strategy == WHOLE.strategy), None)
    whole_tokens = _mean(whole["tokens"]) if whole else 0.0
    against = _against(found, default)
    return [
        Summary(
            way,
            {name: one for name, sample in samples.items() if (one := figure(sample)) is not None},
            against.get(way, {}),
            1 - _mean(samples["tokens"]) / whole_tokens if whole_tokens else None,
        )
        for way, samples in found.items()
    ]


def _against(found: Mapping[Way, Mapping[str, Sample]], default: Way) -> dict[Way, dict[str, Against]]:
    """Every other way against the default; one correction for all that is compared."""
    pairs = {
        (way, name): pair
        for way, samples in found.items()
        for name in TESTED
        if way != default and default in found
        if (pair := paired(found[default][name], samples[name])) is not None
    }
    against: dict[Way, dict[str, Against]] = {}
    for ((way, name), pair), p in zip(pairs.items(), chances(list(pairs.values())), strict=True):
        one = change(*pair)
        against.setdefault(way, {})[name] = Against(one.difference, one.low, one.high, p)
    return against


def _samples(trials: Sequence[Trial]) -> dict[str, Sample]:
    answerable = [trial for trial in trials if trial.places]
    others = [trial for trial in trials if not trial.places]
    values = ranking_values({trial.key: trial.ranking for trial in answerable}, (1, 3))
    rows: dict[str, list[tuple[str, float]]] = {
        name: list(values[name].items()) for name in ("hit@1", "hit@3", "mrr")
    }
    rows["recall"] = [(trial.key, len({*trial.right} - {None}) / trial.places) for trial in answerable]
    rows["refused_wrongly"] = [(trial.key, float(trial.refused)) for trial in answerable]
    rows["refused_rightly"] = [(trial.key, float(trial.refused)) for trial in others]
    rows["tokens"] = [(trial.key, float(trial.tokens)) for trial in trials]
    rows["ms"] = [(trial.key, trial.ms) for trial in trials]
    return {name: Sample.of([(key, value, 1.0) for key, value in some]) for name, some in rows.items()}


def _mean(sample: Sample) -> float:
    return float(sample.amounts.sum() / sample.weights.sum()) if len(sample.keys) else 0.0
