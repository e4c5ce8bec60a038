"""Where a question lies."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_map import a_map, a_source

from pipeline.plots.position import (
    NEAREST,
    find_place,
    geometric_median,
    membership,
    place_among,
    question_request,
)
from pipeline.types import Answer, Reply


def test_one_passage_is_the_place():
    place = place_among(a_map(), "вопрос", [a_source(3, 0.9)])
    assert place.flat == (1.0, 1.0)
    assert place.deep == (1.0, 1.0, 0.0)


def test_between_two_equally_near_passages():
    place = place_among(a_map(), "вопрос", [a_source(0, 0.9), a_source(2, 0.9)])
    assert place.flat == (0.1, 0.0)


def test_far_passages_hardly_pull():
    """log2(4) = 2: the three near ones cannot reach it alone, the far one is left what remains."""
    near = [a_source(number, 0.9 - number / 100) for number in (0, 1, 2)]
    place = place_among(a_map(), "вопрос", [*near, a_source(3, 0.3)])
    assert place.flat is not None
    assert math.dist(place.flat, (0.0, 0.0)) < 0.15


def test_a_few_far_passages_do_not_pull_it_into_the_empty_middle():
    """Three of five lie in one place: the mean would be two fifths of the way, the median stays."""
    places = np.array([[0, 0], [0, 0], [0, 0], [10, 0], [0, 10]], dtype=np.float64)
    assert geometric_median(places, np.full(5, 0.2)).tolist() == pytest.approx([0, 0], abs=1e-3)


def test_the_median_of_a_triangle_sees_its_sides_alike():
    """Of an equilateral triangle it is the centre."""
    places = np.array([[0, 0], [2, 0], [1, math.sqrt(3)]])
    assert geometric_median(places, np.ones(3)).tolist() == pytest.approx([1, 1 / math.sqrt(3)])


def test_passages_that_are_not_on_the_map():
    place = place_among(a_map(), "вопрос", [a_source(99, 0.9)])
    assert (place.flat, place.deep) == (None, None)
    assert len(place.nearest) == 1
    assert place_among(a_map(), "вопрос", []).flat is None


def test_weights_by_hand():
    """Distances 0, 0, 1: 1 + 1 + exp(-1/s) cannot be log2(3) = 1.58, so the far one weighs nothing."""
    assert membership([0.2, 0.2, 1.2]).tolist() == pytest.approx([0.5, 0.5, 0.0], abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.floats(0, 2), min_size=1, max_size=20))
def test_weights_are_shares_that_fall_with_distance(distances):
    weights = membership(distances)
    assert weights.sum() == pytest.approx(1)
    ordered = [weight for _, weight in sorted(zip(distances, weights, strict=True), key=lambda pair: pair[0])]
    assert all(earlier >= later - 1e-12 for earlier, later in pairwise(ordered))


def test_the_question_is_asked_of_the_search():
    class Asked:
        def ask(self, request, cancelled):
            self.request = request
            sources = (a_source(0, 0.9),)
            return Reply("вопрос", (), Answer("", "sources"), sources, {}, "m", "k", "r")

    service = Asked()
    place = find_place(a_map(), service, question_request("вопрос -3", "en"))
    assert (place.question, place.flat) == ("вопрос", (0.0, 0.0))
    assert service.request.question == "вопрос -3"
    assert (service.request.top_k, service.request.scores, service.request.use_rag) == (NEAREST, True, False)
