"""Dense regions of the map."""

import numpy as np
import pytest

from pipeline.plots.clusters import NO_CLUSTER, find_clusters, smallest_cluster


def heap(middle: tuple[float, float, float], points: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(middle, 0.02, size=(points, 3)).astype(np.float32)


def test_three_heaps():
    found = find_clusters(
        np.vstack([heap((-1, 0, 0), 12, 1), heap((1, 0, 0), 30, 2), heap((0, 1, 0), 20, 3)])
    )
    assert found.tolist() == [2] * 12 + [0] * 30 + [1] * 20


def test_a_heap_of_nearly_everything_is_shown_by_its_parts():
    parts = [heap((0, 0, 0), 20, 1), heap((0.3, 0, 0), 20, 2), heap((0, 0.3, 0), 20, 3)]
    found = find_clusters(np.vstack([*parts, heap((9, 9, 9), 10, 4)]))
    assert np.bincount(found[found != NO_CLUSTER]).max() <= 35


def test_the_largest_cluster_has_the_first_number():
    found = find_clusters(np.vstack([heap((-1, 0, 0), 10, 1), heap((1, 0, 0), 11, 2), heap((0, 1, 0), 9, 3)]))
    sizes = np.bincount(found[found != NO_CLUSTER])
    assert sizes.tolist() == sorted(sizes, reverse=True)
    assert set(found) >= set(range(len(sizes)))


@pytest.mark.parametrize("points", [0, 1, 9])
def test_few_points_make_no_cluster(points):
    assert find_clusters(heap((0, 0, 0), points, 1)).tolist() == [NO_CLUSTER] * points


def test_twenty_points_in_one_place_make_no_cluster():
    """Case 24: 20 identical blocks."""
    assert set(find_clusters(np.zeros((20, 3), dtype=np.float32))) == {NO_CLUSTER}


@pytest.mark.parametrize(("points", "fewest"), [(10, 5), (143, 5), (144, 6), (977, 15), (100_000, 158)])
def test_the_smallest_cluster_is_half_the_square_root(points, fewest):
    assert smallest_cluster(points) == fewest
