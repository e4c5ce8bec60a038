"""The map itself: what is computed once for an index and drawn in many ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.index import Index
from pipeline.plots.clusters import NO_CLUSTER, find_clusters
from pipeline.plots.colours import colour_groups
from pipeline.plots.labels import cluster_labels
from pipeline.plots.marks import duplicate_groups, find_outliers
from pipeline.plots.neighbours import distinct_rows, nearest
from pipeline.plots.projection import FEWEST_FOR_UMAP, NEIGHBOURS, project
from pipeline.ports import Progress
from pipeline.types import FloatMatrix

__all__ = ["MAP_FORMAT", "Cluster", "KnowledgeMap", "Point", "Step", "Watch", "make_map"]

MAP_FORMAT = 1
_OPENING = 240
_TOPIC = 160
_DECIMALS = 4

Step = Literal["duplicates", "neighbours", "flat", "deep", "clusters"]
Watch = Callable[[Step], Progress]
"""Called at the start of a step; what it returns is told how far the step is."""


@dataclass(frozen=True, slots=True)
class Point:
    """One passage on the map.

    Attributes:
        id: The passage's id in the index.
        topic: Its topic, cut where long.
        text: Its opening words.
        group: What it is coloured by besides its cluster: a file or a folder; None for the rest.
        flat: Its place in the plane, each coordinate in -1..1.
        deep: Its place in space, likewise.
        cluster: Number of its cluster; None between clusters.
        duplicates: Number of its group of near-duplicates; None for most.
        alone: True when nothing in the index is near it.
    """

    id: str
    topic: str
    file: str
    text: str
    group: str | None
    flat: tuple[float, ...]
    deep: tuple[float, ...]
    cluster: int | None
    duplicates: int | None
    alone: bool


@dataclass(frozen=True, slots=True)
class Cluster:
    """A region of the map: its strongest terms, how many passages it has, where its label goes."""

    number: int
    terms: tuple[str, ...]
    size: int
    flat: tuple[float, ...]
    deep: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class KnowledgeMap:
    """The map of one index.

    Attributes:
        build_id: Of the index it shows.
        method: ``umap``, or ``pca`` below five different passages.
        clusters: Numbered from 0, the largest first.
        points: In the order of the index.
    """

    build_id: str
    method: Literal["umap", "pca"]
    clusters: tuple[Cluster, ...]
    points: tuple[Point, ...]
    format: int = MAP_FORMAT


def make_map(index: Index, watch: Watch | None = None) -> KnowledgeMap:
    """Compute the map; the same index gives the same map.

    Any number of passages will do: none gives a map without points, identical ones share a place.

    Raises:
        ExtraMissingError: A library of the extra ``map`` is not installed.
    """
    watch = watch or (lambda step: lambda done, total: None)
    vectors = np.ascontiguousarray(index.vectors, dtype=np.float32)
    texts = [chunk.text for chunk in index.chunks]
    copies = duplicate_groups(texts, np.asarray(index.text_vectors), watch("duplicates"))
    distinct = distinct_rows(vectors)
    place = np.asarray(distinct.place, dtype=np.int64)
    near = nearest(distinct.vectors, NEIGHBOURS - 1, watch("neighbours"))
    projected: list[FloatMatrix] = []
    steps: tuple[tuple[Step, int], ...] = (("flat", 2), ("deep", 3))
    for step, dimensions in steps:
        progress = watch(step)
        projected.append(project(distinct.vectors, near, dimensions).round(_DECIMALS)[place])
        progress(1, 1)
    flat, deep = projected
    progress = watch("clusters")
    numbers = find_clusters(deep)
    worded = [f"{chunk.topic}\n{chunk.text}" for chunk in index.chunks]
    labels = cluster_labels(index.postings, numbers, worded)
    alone = find_outliers(near, distinct.counts)[place]
    groups = colour_groups([chunk.file for chunk in index.chunks])
    progress(1, 1)
    return KnowledgeMap(
        build_id=index.manifest.build_id,
        method="umap" if len(distinct.vectors) >= FEWEST_FOR_UMAP else "pca",
        clusters=_clusters(numbers, labels, flat, deep),
        points=tuple(
            Point(
                id=chunk.id,
                topic=_cut(chunk.topic, _TOPIC),
                file=chunk.file,
                text=_cut(chunk.text, _OPENING),
                group=groups[row],
                flat=_coordinates(flat[row]),
                deep=_coordinates(deep[row]),
                cluster=None if numbers[row] == NO_CLUSTER else int(numbers[row]),
                duplicates=copies[row],
                alone=bool(alone[row]),
            )
            for row, chunk in enumerate(index.chunks)
        ),
    )


def _clusters(
    numbers: NDArray[np.int64],
    labels: Sequence[tuple[str, ...]],
    flat: FloatMatrix,
    deep: FloatMatrix,
) -> tuple[Cluster, ...]:
    found = []
    for number, terms in enumerate(labels):
        rows = np.flatnonzero(numbers == number)
        centres = (_coordinates(np.median(where[rows], axis=0)) for where in (flat, deep))
        found.append(Cluster(number, terms, len(rows), *centres))
    return tuple(found)


def _coordinates(place: FloatMatrix) -> tuple[float, ...]:
    return tuple(round(float(value), _DECIMALS) + 0.0 for value in place)


def _cut(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
