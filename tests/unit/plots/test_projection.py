"""From many dimensions to two and three (case 24)."""

import numpy as np
import pytest

from pipeline.plots import projection
from pipeline.plots.neighbours import nearest
from pipeline.plots.projection import NEIGHBOURS, principal_components, project


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def some_vectors(points: int, dimension: int = 32) -> np.ndarray:
    return unit(np.random.default_rng(points).normal(size=(points, dimension))).reshape(points, dimension)


def placed(vectors: np.ndarray, dimensions: int) -> np.ndarray:
    return project(vectors, nearest(vectors, NEIGHBOURS - 1), dimensions)


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("points", [0, 1, 2, 3, 4, 5, 6, 15, 16])
def test_any_number_of_points_finds_a_place(points, dimensions):
    """Case 24: no NaN, no warning, no error, whatever the number."""
    found = placed(some_vectors(points), dimensions)
    assert found.shape == (points, dimensions)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    assert np.abs(found).max(initial=0) <= 1.0
    assert len(np.unique(found, axis=0)) == points


def test_points_on_one_line_are_no_reason_to_divide_by_zero():
    """Case 24: principal components without any spread in the other directions."""
    line = np.linspace(0, 1, 20, dtype=np.float32)
    vectors = unit(np.column_stack([np.ones(20), line]))
    found = placed(vectors, 3)
    assert np.isfinite(found).all()


def test_the_same_vectors_give_the_same_picture():
    vectors = some_vectors(30)
    assert (placed(vectors, 2) == placed(vectors, 2)).all()


def test_two_topics_stay_apart():
    random = np.random.default_rng(0)
    topics = np.repeat(np.eye(2, 32), 12, axis=0)
    found = placed(unit(topics + random.normal(scale=0.02, size=topics.shape)), 2)
    one, other = found[:12], found[12:]
    between = np.linalg.norm(one.mean(axis=0) - other.mean(axis=0))
    assert between > 2 * max(part.std(axis=0).max() for part in (one, other))


def test_a_library_that_fails_leaves_no_holes(monkeypatch):
    vectors = some_vectors(8)
    monkeypatch.setattr(projection, "_umap", lambda *_: np.full((8, 2), np.nan, dtype=np.float32))
    found = placed(vectors, 2)
    assert np.isfinite(found).all()
    assert len(np.unique(found, axis=0)) == 8


def test_principal_components_of_three_points_on_a_line():
    """Means (4, 0); distances from it -4, -1, 5 along the only direction."""
    found = principal_components(np.array([[0, 0], [3, 0], [9, 0]], dtype=np.float32), 2)
    assert found.tolist() == [[-4, 0], [-1, 0], [5, 0]]


def test_the_direction_is_where_its_largest_component_points():
    along_minus = np.array([[0, 1], [0, -1], [0, -3]], dtype=np.float32)
    assert principal_components(along_minus, 2)[:, 0].tolist() == [2, 0, -2]
