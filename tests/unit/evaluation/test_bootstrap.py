"""Intervals and comparisons: what can be worked out by hand, and what must hold of any sample."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.evaluation import bootstrap
from pipeline.evaluation.bootstrap import Sample, chances, change, figure, paired, quantile_figure
from pipeline.evaluation.comparison import compare


def sample(values, weights=None) -> Sample:
    weights = weights or [1.0] * len(values)
    return Sample.of([(str(n), v, w) for n, (v, w) in enumerate(zip(values, weights, strict=True))])


def test_a_share_of_sentences_is_not_the_mean_of_the_questions_shares():
    # 1 of 1 sentences and 1 of 3: half of all sentences, not two thirds.
    found = figure(sample([1, 1], [1, 3]))
    assert found is not None
    assert found.value == 0.5


def test_the_interval_is_about_that_of_the_normal_distribution():
    rng = np.random.default_rng(1)
    values = rng.normal(10, 2, 400)
    found = figure(sample(values.tolist()))
    assert found is not None
    half = 1.96 * values.std() / 20
    assert found.low == pytest.approx(values.mean() - half, abs=0.05)
    assert found.high == pytest.approx(values.mean() + half, abs=0.05)


def test_where_all_say_the_same_the_interval_is_wilsons():
    found = figure(sample([1.0] * 40))
    assert found is not None
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(40 / (40 + 1.96**2))  # 0.9124, as tables of Wilson's interval say
    none = figure(sample([0.0] * 40))
    assert none is not None
    assert none.high == pytest.approx(1 - 0.9124, abs=1e-4)
    # Ten sentences of four answers are no more than four answers; a question without any tells nothing.
    sentences = figure(sample([3, 2, 4, 1, 0], [3, 2, 4, 1, 0]))
    assert sentences is not None
    assert sentences.low == pytest.approx(4 / (4 + 1.96**2))


@settings(max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_a_figure_lies_in_its_interval_and_is_the_same_again(values):
    found = figure(sample(values))
    assert found is not None
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9
    assert found == figure(sample(values))


def test_nothing_tells_nothing():
    assert figure(sample([])) is None
    assert figure(sample([0, 0], [0, 0])) is None
    assert quantile_figure([], 0.5) is None


def test_quantiles():
    found = quantile_figure([float(n) for n in range(101)], 0.95)
    assert found is not None
    assert found.value == 95.0
    assert found.low < 95 < found.high


def p(old: Sample, new: Sample) -> float:
    (only,) = chances([(old, new)])
    return only


def test_the_permutation_test_agrees_with_counting_all_swaps():
    # Three questions got better by one, none worse: of 2^3 ways to swap, 2 differ as much.
    old, new = sample([0, 0, 0, 1, 1]), sample([1, 1, 1, 1, 1])
    assert change(old, new).difference == pytest.approx(0.6)
    assert p(old, new) == pytest.approx(2 / 8, abs=0.02)
    # Ten of them: 2 of 1024.
    assert p(sample([0] * 10), sample([1] * 10)) == pytest.approx(2 / 1024, abs=0.001)


def test_equal_runs_do_not_differ():
    one = sample([0, 1, 1])
    assert (p(one, one), change(one, one).difference) == (1.0, 0.0)
    assert chances([]) == []


def test_measures_that_move_together_cost_no_power_and_others_do():
    old, new = sample([0] * 8 + [1] * 8), sample([1] * 16)
    rng = np.random.default_rng(3)
    others = [(sample(rng.random(16).tolist()), sample(rng.random(16).tolist())) for _ in range(20)]
    alone, same, among = p(old, new), chances([(old, new)] * 10)[0], chances([(old, new), *others])[0]
    assert same == alone
    assert alone < among < 21 * alone  # never worse than Bonferroni


def test_luck_is_called_luck(monkeypatch):
    """Runs that are alike differ significantly in one of many measures no more often than they may."""
    monkeypatch.setattr(bootstrap, "PERMUTATIONS", 1000)
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(40):
        pairs = [(sample(rng.random(20).tolist()), sample(rng.random(20).tolist())) for _ in range(5)]
        found += min(chances(pairs)) < 0.05
    assert found <= 6  # 2 are expected; 7 or more come up once in 300 times


def test_only_common_questions_are_compared_in_whatever_order():
    before = Sample.of([("a", 1.0, 1.0), ("b", 0.0, 1.0), ("gone", 0.0, 1.0)])
    after = Sample.of([("new", 1.0, 1.0), ("b", 0.0, 1.0), ("a", 1.0, 1.0)])
    both = paired(before, after)
    assert both is not None
    assert both[0].keys == both[1].keys == ("b", "a")
    assert change(*both).difference == 0.0
    assert paired(sample([1.0]), Sample.of([("other", 1.0, 1.0)])) is None


def test_what_is_worse_is_told_by_the_measure():
    high, low = sample([1.0] * 20), sample([0.0] * 20)
    measures = ("hit@1", "refused_wrongly", "judge_correct", "total_ms")
    before = {name: low if name == "total_ms" else high for name in measures}
    after = {name: high if name == "total_ms" else low for name in measures}
    found = {one.measure: (one.judgement, one.counts) for one in compare(before, after)}
    assert found == {
        "hit@1": ("worse", True),
        "refused_wrongly": ("better", True),
        "judge_correct": ("worse", False),
        "total_ms": ("worse", False),
    }


def test_resamples_that_tell_nothing_are_left_out():
    # Refusal precision: a resample without any refusal has none.
    found = figure(sample([1, 0, 0, 0], [1, 0, 0, 1]))
    assert found is not None
    assert found.value == 0.5
    assert not math.isnan(found.low)
