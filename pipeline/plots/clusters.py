"""Which points of the map lie together.

HDBSCAN (Campello, Moulavi, Sander 2013) finds dense regions of any shape and leaves the points between
them alone. It works on the three-dimensional projection: in hundreds of dimensions density says little
(on 977 real passages 65 % were left alone there, 10 % here).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.plots.extras import load_library
from pipeline.types import FloatMatrix

__all__ = ["NO_CLUSTER", "find_clusters"]

NO_CLUSTER = -1
_FEWEST_POINTS = 10
_MIN_SIZE = 5
_MIN_SAMPLES = 3  # with more of them more points are left alone
_LARGEST_SHARE = 2  # a cluster of more than half of all points tells nothing: its parts are taken


def find_clusters(points: FloatMatrix) -> NDArray[np.int64]:
    """A cluster number for every point, the largest cluster first, ``NO_CLUSTER`` for points between them.

    Args:
        points: float32, shape (points, dimensions), finite.

    Raises:
        ExtraMissingError: scikit-learn is not installed.
    """
    count = len(points)
    if count < _FEWEST_POINTS or not np.ptp(points, axis=0).any():
        return np.full(count, NO_CLUSTER, dtype=np.int64)
    cluster = load_library("sklearn.cluster")
    smallest = smallest_cluster(count)
    found = cluster.HDBSCAN(
        min_cluster_size=smallest,
        min_samples=_MIN_SAMPLES,
        max_cluster_size=max(count // _LARGEST_SHARE, 2 * smallest),
        copy=True,
    ).fit_predict(points.astype(np.float64))
    return _by_size(np.asarray(found, dtype=np.int64))


def smallest_cluster(count: int) -> int:
    """Fewest points of a cluster: half the square root, so that the number of labels stays readable."""
    return max(_MIN_SIZE, math.isqrt(count) // 2)


def _by_size(found: NDArray[np.int64]) -> NDArray[np.int64]:
    found = np.where(found < 0, NO_CLUSTER, found)
    names, first, sizes = np.unique(found, return_index=True, return_counts=True)
    order = sorted(
        (-size, start, name) for name, start, size in zip(names, first, sizes, strict=True) if name >= 0
    )
    numbers = {name: number for number, (_, _, name) in enumerate(order)}
    return np.array([numbers.get(name, NO_CLUSTER) for name in found.tolist()], dtype=np.int64)
