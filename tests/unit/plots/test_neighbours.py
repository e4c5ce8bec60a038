"""Nearest rows and rows without repetition, worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.plots import neighbours
from pipeline.plots.neighbours import distinct_rows, nearest


def directions(*degrees: float) -> np.ndarray:
    return np.array(
        [(math.cos(math.radians(angle)), math.sin(math.radians(angle))) for angle in degrees],
        dtype=np.float32,
    )


def test_nearest_in_the_plane():
    found = nearest(directions(0, 10, 90, 60), 2)
    assert found.rows.tolist() == [[1, 3], [0, 3], [3, 1], [2, 1]]
    assert found.cosines[0].tolist() == pytest.approx([math.cos(math.radians(10)), 0.5], abs=1e-6)


def test_equally_near_rows_come_in_their_own_order():
    assert nearest(directions(0, 90, -90, 90), 3).rows.tolist() == [
        [1, 2, 3],
        [3, 0, 2],
        [0, 1, 3],
        [1, 0, 2],
    ]


@pytest.mark.parametrize(("points", "count"), [(0, 0), (1, 0), (2, 1), (4, 3)])
def test_there_are_never_more_neighbours_than_other_rows(points, count):
    found = nearest(directions(*range(points)).reshape(points, 2), 14)
    assert found.rows.shape == found.cosines.shape == (points, count)


def test_blocks_change_nothing(monkeypatch):
    vectors = np.random.default_rng(1).normal(size=(50, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    whole, told = nearest(vectors, 5), []
    monkeypatch.setattr(neighbours, "_BLOCK_CELLS", 350)
    parts = nearest(vectors, 5, lambda done, total: told.append((done, total)))
    assert (parts.rows == whole.rows).all()
    assert told == [(end, 50) for end in (7, 14, 21, 28, 35, 42, 49, 50)]


def test_equal_rows_are_one():
    found = distinct_rows(np.array([[1, 0], [0, 1], [1, 1e-6], [-0.0, 1]], dtype=np.float32))
    assert found.vectors.tolist() == [[1, 0], [0, 1]]
    assert list(found.place) == [0, 1, 0, 1]
    assert list(found.counts) == [2, 2]


@settings(deadline=None)
@given(st.lists(st.sampled_from([(1.0, 0.0), (0.0, 1.0), (0.6, 0.8)]), max_size=12))
def test_every_row_finds_its_place(rows):
    vectors = np.array(rows, dtype=np.float32).reshape(len(rows), 2)
    found = distinct_rows(vectors)
    assert (found.vectors[list(found.place)] == vectors).all()
    assert sum(found.counts) == len(rows)
    assert len(found.vectors) == len(set(rows))
