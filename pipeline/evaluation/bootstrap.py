"""Means that say how sure they are, and whether two runs over the same questions differ.

Intervals are percentile bootstraps over the questions (Efron, 1979); a share of 0 or 1 has Wilson's. Two runs
are compared by a paired permutation test (Fisher, 1935; for retrieval: Smucker, Allan and Carterette, CIKM
2007): if the runs were alike, which of the two each value came from would be a matter of chance. Everything
is seeded: the same records give the same figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Change", "Figure", "Sample", "chances", "change", "figure", "paired", "quantile_figure"]

RESAMPLES = 2000
PERMUTATIONS = 10_000
CONFIDENCE = 0.95
SEED = 20261130

_ROWS = 1 << 22
"""Numbers of one block of resamples: 10,000 of a thousand questions need not be in memory at once."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sample:
    """A measure of several questions: each adds ``amounts`` to what is counted, ``weights`` to what of.

    A share of questions has weights of 1; a share of sentences has a question's sentences as its weight. The
    figure is the sum of the amounts by the sum of the weights.

    Attributes:
        keys: Which question each entry belongs to, all different.
    """

    keys: tuple[str, ...]
    amounts: Floats
    weights: Floats

    @classmethod
    def of(cls, rows: Sequence[tuple[str, float, float]]) -> Sample:
        """From (key, amount, weight) triples."""
        columns = np.array([row[1:] for row in rows], dtype=np.float64).reshape(-1, 2)
        return cls(tuple(row[0] for row in rows), columns[:, 0], columns[:, 1])

    def of_keys(self, keys: Sequence[str]) -> Sample:
        """The same of some questions, in that order."""
        place = {key: row for row, key in enumerate(self.keys)}
        rows = [place[key] for key in keys]
        return Sample(tuple(keys), self.amounts[rows], self.weights[rows])


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its 95 % interval.

    Attributes:
        questions: How many questions tell.
    """

    value: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a figure, over the questions that both runs have.

    Attributes:
        low, high: 95 % interval of the difference (paired bootstrap).
    """

    before: float
    after: float
    low: float
    high: float
    questions: int

    @property
    def difference(self) -> float:
        """Positive where the figure has grown."""
        return self.after - self.before


def figure(sample: Sample) -> Figure | None:
    """The figure of a sample; None where it tells nothing."""
    total = float(sample.weights.sum())
    if not total:
        return None
    value = float(sample.amounts.sum() / total)
    if value in (0.0, 1.0):
        # Questions, not sentences: those of one answer stand or fall together.
        return Figure(value, *_unanimous(value, int(np.count_nonzero(sample.weights))), len(sample.keys))
    rng = np.random.default_rng(SEED)
    means = np.concatenate(
        [
            _ratio(sample.amounts[rows].sum(axis=1), sample.weights[rows].sum(axis=1))
            for rows in _resampled(len(sample.keys), rng)
        ]
    )
    low, high = _interval(means)
    return Figure(value, low, high, len(sample.keys))


def _unanimous(value: float, count: int) -> tuple[float, float]:
    """Interval of a share where all say the same, and every resample would, too: Wilson's (1927)."""
    edge = 1.96**2 / (count + 1.96**2)
    return (1 - edge, 1.0) if value else (0.0, edge)


def quantile_figure(values: Sequence[float], share: float) -> Figure | None:
    """A quantile with its interval; None of no values."""
    if not values:
        return None
    given = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(SEED)
    drawn = np.concatenate([np.quantile(given[rows], share, axis=1) for rows in _resampled(len(given), rng)])
    low, high = _interval(drawn)
    return Figure(float(np.quantile(given, share)), low, high, len(given))


def paired(before: Sample, after: Sample) -> tuple[Sample, Sample] | None:
    """Both over the questions that both have; None where those tell nothing in one of them."""
    common = set(before.keys)
    keys = [key for key in after.keys if key in common]
    old, new = before.of_keys(keys), after.of_keys(keys)
    return (old, new) if old.weights.sum() and new.weights.sum() else None


def change(old: Sample, new: Sample) -> Change:
    """How a figure differs between two runs; the samples are `paired`."""
    rng = np.random.default_rng(SEED)
    differences = np.concatenate(
        [
            _ratio(new.amounts[rows].sum(axis=1), new.weights[rows].sum(axis=1))
            - _ratio(old.amounts[rows].sum(axis=1), old.weights[rows].sum(axis=1))
            for rows in _resampled(len(new.keys), rng)
        ]
    )
    low, high = _interval(differences)
    first, second = (float(one.amounts.sum() / one.weights.sum()) for one in (old, new))
    return Change(first, second, low, high, len(new.keys))


def chances(pairs: Sequence[tuple[Sample, Sample]]) -> list[float]:
    """How likely it is by luck that any of several measures differs as much as each of them does.

    The single-step maxT of Westfall and Young (1993): in each permutation the same questions are swapped for
    all measures, and each measure is held against the one that differs most, in its own standard deviations.
    So ten measures that always move together cost no more than one, where Bonferroni would count ten.

    Args:
        pairs: `paired` samples, one pair a measure.
    """
    if not pairs:
        return []
    found = _swapped_differences(pairs)
    widths = found.std(axis=0)
    widths[widths == 0] = np.inf  # what never differs is never the most
    largest = (np.abs(found) / widths).max(axis=1)
    return [
        float((np.sum(largest >= abs(_difference(old, new)) / width - 1e-9) + 1) / (PERMUTATIONS + 1))
        for (old, new), width in zip(pairs, widths, strict=True)
    ]


def _swapped_differences(pairs: Sequence[tuple[Sample, Sample]]) -> Floats:
    """Differences of all measures in each permutation, (permutations, pairs); 0 where one has no weight."""
    keys = list(dict.fromkeys(key for _, new in pairs for key in new.keys))
    row = {key: place for place, key in enumerate(keys)}
    # What swapping a question takes from the one side and gives to the other, for each measure.
    amounts, weights = np.zeros((len(keys), len(pairs))), np.zeros((len(keys), len(pairs)))
    for column, (old, new) in enumerate(pairs):
        rows = [row[key] for key in new.keys]
        amounts[rows, column] = old.amounts - new.amounts
        weights[rows, column] = old.weights - new.weights
    sums = [[(one.amounts.sum(), one.weights.sum()) for one in pair] for pair in pairs]
    before, after = (np.array([both[side] for both in sums]).T for side in (0, 1))
    rng = np.random.default_rng(SEED)
    block = max(1, _ROWS // max(len(keys), 1))
    found: list[Floats] = []
    for begin in range(0, PERMUTATIONS, block):
        swapped = (rng.random((min(block, PERMUTATIONS - begin), len(keys))) < 0.5).astype(np.float64)
        moved, weight = swapped @ amounts, swapped @ weights
        one = _ratio(after[0] + moved, after[1] + weight)
        other = _ratio(before[0] - moved, before[1] - weight)
        found.append(np.nan_to_num(one - other, nan=0.0, posinf=0.0, neginf=0.0))
    return np.concatenate(found)


def _difference(old: Sample, new: Sample) -> float:
    return float(new.amounts.sum() / new.weights.sum() - old.amounts.sum() / old.weights.sum())


def _resampled(count: int, rng: np.random.Generator, times: int = RESAMPLES) -> list[NDArray[np.intp]]:
    """Rows of ``times`` resamples, in blocks of shape (resamples, count)."""
    block = max(1, _ROWS // max(count, 1))
    sizes = [min(block, times - begin) for begin in range(0, times, block)]
    return [rng.integers(0, count, (size, count)) for size in sizes]


def _ratio(amounts: Floats, weights: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(amounts / weights, dtype=np.float64)


def _interval(values: Floats) -> tuple[float, float]:
    """Of the resamples that tell something; NaN where none does."""
    told = values[np.isfinite(values)]
    if not len(told):
        return float("nan"), float("nan")
    edge = (1 - CONFIDENCE) / 2
    low, high = np.quantile(told, [edge, 1 - edge])
    return float(low), float(high)
