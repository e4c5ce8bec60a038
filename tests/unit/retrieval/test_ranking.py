"""The best rows, with ties broken the same way every time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ranking import best_rows, ranks

scores = st.lists(st.integers(-5, 5), max_size=30).map(lambda values: np.array(values, dtype=np.float32))


def by_number(values):
    return np.arange(len(values), dtype=np.int32)


def test_ties_go_by_key_not_by_place():
    equal = np.ones(4, np.float32)
    assert best_rows(equal, 2, np.array([3, 2, 1, 0], np.int32)) == [3, 2]


def test_scores_that_differ_by_rounding_only_are_ties():
    assert best_rows(np.array([0.5, 0.5000002], np.float32), 1, by_number("ab")) == [0]


def test_nothing_at_or_below_the_floor():
    assert best_rows(np.array([0.0, 2.0, 0.0], np.float32), 3, by_number("abc"), above=0.0) == [1]


def test_empty():
    assert best_rows(np.zeros(0, np.float32), 5, by_number("")) == []
    assert best_rows(np.ones(3, np.float32), 0, by_number("abc")) == []


@given(scores, st.integers(0, 40))
def test_the_same_as_sorting_everything(values, count):
    expected = sorted(range(len(values)), key=lambda position: (-values[position], position))[:count]
    assert best_rows(values, count, by_number(values)) == expected


@given(scores)
def test_ranks_are_places_from_one(values):
    order = best_rows(values, len(values), by_number(values))
    assert [ranks(values, by_number(values))[position] for position in order] == list(
        range(1, len(values) + 1)
    )
