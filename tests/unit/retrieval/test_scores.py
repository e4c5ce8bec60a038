"""Dense scores and fusion, worked out by hand."""

import numpy as np
import pytest

from pipeline.fusion import reciprocal_ranks, standard_scores, zscore_sum
from pipeline.retrieval.dense import cosines

VECTORS = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)


def test_cosines_of_all_rows_and_of_some():
    question = np.array([0.8, 0.6], np.float32)
    assert cosines(VECTORS, question).tolist() == pytest.approx([0.8, 0.6, 0.96])
    assert cosines(VECTORS, question, np.array([2, 0])).tolist() == pytest.approx([0.96, 0.8])


def test_a_broken_vector_scores_nothing():
    broken = np.array([[np.nan, 0], [1, 0]], np.float32)
    assert cosines(broken, np.array([1, 0], np.float32)).tolist() == [0.0, 1.0]


def test_reciprocal_ranks():
    """0.7 / 61 + 0.3 / 62 and 0.7 / 62 + 0.3 / 61."""
    assert reciprocal_ranks([1, 2], [2, 1]).tolist() == pytest.approx([0.01631412, 0.01620835], abs=1e-7)


def test_standard_scores_have_mean_0_and_deviation_1():
    assert standard_scores(np.array([1, 2, 3], np.float32)).tolist() == pytest.approx(
        [-1.2247449, 0.0, 1.2247449]
    )


def test_scores_that_do_not_differ_say_nothing():
    assert standard_scores(np.array([4, 4], np.float32)).tolist() == [0.0, 0.0]
    assert standard_scores(np.zeros(0, np.float32)).tolist() == []


def test_sum_keeps_by_how_much_a_candidate_wins():
    dense = np.array([0.90, 0.89, 0.80], np.float32)
    keyword = np.array([1.0, 9.0, 1.0], np.float32)
    assert int(np.argmax(zscore_sum(dense, keyword))) == 1
