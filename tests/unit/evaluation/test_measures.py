"""Measures against values worked out by hand or known from outside."""

import math

import numpy as np
import pytest

from pipeline.evaluation.logistic import fit_logistic
from pipeline.evaluation.metrics import area_under_curve, first_rank, mean_reciprocal_rank, recall_at


def test_first_rank_counts_each_item_once():
    assert first_rank(["a", "a", "b", "c"], {"c"}) == 3
    assert first_rank(["a", "b"], {"z"}) is None


def test_recall_and_reciprocal_rank():
    ranks = [1, 2, None, 4]
    assert recall_at(ranks, 1) == 0.25
    assert recall_at(ranks, 3) == 0.5
    assert mean_reciprocal_rank(ranks) == pytest.approx((1 + 0.5 + 0.25) / 4)
    assert recall_at([], 1) == mean_reciprocal_rank([]) == 0


def test_area_under_curve():
    assert area_under_curve([3, 4], [1, 2]) == 1
    assert area_under_curve([1, 2], [3, 4]) == 0
    assert area_under_curve([1, 3], [2]) == 0.5
    assert area_under_curve([1, 1], [1]) == 0.5  # ties count half
    assert math.isnan(area_under_curve([], [1]))


def test_logistic_regression_of_one_feature():
    """Two values, three of four and one of four positive: the odds are 3 and 1/3, the log-odds ±ln 3."""
    features = np.array([[1.0]] * 4 + [[-1.0]] * 4)
    labels = np.array([1, 1, 1, 0, 1, 0, 0, 0], dtype=float)
    coefficients, intercept = fit_logistic(features, labels, np.ones(8), ridge=0.0)
    assert coefficients.tolist() == pytest.approx([math.log(3)])
    assert intercept == pytest.approx(0, abs=1e-9)


def test_weights_count_as_repetition():
    features = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    labels = np.array([1.0, 0.0, 1.0, 0.0])
    coefficients, _ = fit_logistic(features, labels, np.array([3.0, 1.0, 1.0, 3.0]), ridge=0.0)
    assert coefficients.tolist() == pytest.approx([math.log(3)])


def test_the_penalty_draws_to_zero():
    features = np.array([[1.0], [-1.0]])
    labels = np.array([1.0, 0.0])
    loose, _ = fit_logistic(features, labels, np.ones(2), ridge=0.1)
    tight, _ = fit_logistic(features, labels, np.ones(2), ridge=10.0)
    assert 0 < tight[0] < loose[0]
