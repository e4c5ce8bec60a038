"""Vectors of many dimensions as points of two or three.

UMAP (McInnes, Healy, Melville 2018, arXiv:1802.03426) keeps neighbours together. It starts from the
principal components, so that the large distances of the picture mean something too (Kobak, Linderman
2021, doi:10.1038/s41587-020-00809-z). Below five points there are no neighbourhoods to keep: the
principal components themselves are shown.
"""

from __future__ import annotations

import warnings

import numpy as np

from pipeline.plots.extras import load_library
from pipeline.plots.neighbours import Neighbours
from pipeline.types import FloatMatrix

__all__ = ["FEWEST_FOR_UMAP", "NEIGHBOURS", "SEED", "principal_components", "project"]

NEIGHBOURS = 15
"""Passages that count as a neighbourhood, the passage itself included: UMAP's own default."""
FEWEST_FOR_UMAP = 5
SEED = 42
_MIN_DIST = 0.1
_JITTER = 1e-4  # keeps a start without any spread in one direction from dividing by zero


def project(vectors: FloatMatrix, neighbours: Neighbours, dimensions: int) -> FloatMatrix:
    """Place every row in the plane or in space.

    Args:
        vectors: float32, shape (points, dimension), no two rows equal.
        neighbours: Of these rows, at least ``min(NEIGHBOURS, points) - 1`` of each.
        dimensions: 2 or 3.

    Returns:
        float32, shape (points, dimensions), centred, no coordinate beyond -1..1, all finite. The axes
        have no meaning and no unit.

    Raises:
        ExtraMissingError: umap-learn is not installed and there are five points or more.
    """
    start = principal_components(vectors, dimensions)
    if len(vectors) < FEWEST_FOR_UMAP:
        return _framed(start)
    placed = _umap(vectors, neighbours, start)
    # A fault of the library must not leave holes in the map: the plainer picture is still a true one.
    return _framed(placed if np.isfinite(placed).all() else start)


def principal_components(vectors: FloatMatrix, dimensions: int) -> FloatMatrix:
    """Coordinates along the directions of greatest spread (PCA), float32 of shape (points, dimensions).

    Directions that the points do not spread in give zeros. Each direction points to where its largest
    component is positive, so that the picture is never mirrored.
    """
    placed = np.zeros((len(vectors), dimensions), dtype=np.float32)
    if len(vectors) < 2:
        return placed
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    strengths, directions = np.linalg.eigh(centred.T @ centred)
    for column in range(min(dimensions, len(vectors) - 1, len(strengths))):
        direction = directions[:, -1 - column]
        if strengths[-1 - column] > 1e-9:
            sign = np.sign(direction[np.abs(direction).argmax()])
            placed[:, column] = centred @ (sign * direction)
    return placed


def _umap(vectors: FloatMatrix, neighbours: Neighbours, start: FloatMatrix) -> FloatMatrix:
    umap = load_library("umap")
    points, dimensions = start.shape
    count = min(NEIGHBOURS, points - 1)
    # UMAP counts a point as its own first neighbour, at distance 0.
    rows = np.column_stack([np.arange(points, dtype=np.int32), neighbours.rows[:, : count - 1]])
    distances = np.clip(1 - neighbours.cosines[:, : count - 1], 0, 2)
    distances = np.column_stack([np.zeros(points, dtype=np.float32), distances]).astype(np.float32)
    noise = np.random.default_rng(SEED).normal(scale=_JITTER, size=start.shape)
    scale = 10 / max(float(np.abs(start).max()), 1e-9)
    with warnings.catch_warnings():
        # It warns that no new points can be placed later without its own search index; none are.
        warnings.simplefilter("ignore")
        reducer = umap.UMAP(
            n_components=dimensions,
            n_neighbors=count,
            min_dist=_MIN_DIST,
            metric="cosine",
            precomputed_knn=(rows, distances),
            init=(start * scale + noise).astype(np.float32),
            random_state=SEED,
            n_jobs=1,
        )
        return np.asarray(reducer.fit_transform(vectors), dtype=np.float32)


def _framed(placed: FloatMatrix) -> FloatMatrix:
    if not len(placed):
        return placed
    centred = placed - (placed.min(axis=0) + placed.max(axis=0)) / 2
    extent = float(np.abs(centred).max())
    return np.asarray(centred / (extent or 1.0), dtype=np.float32)
