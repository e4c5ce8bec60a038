"""Where a question lies on the map: among the passages that the search finds for it.

The weights are those by which UMAP itself begins to place a new point (the fuzzy membership of McInnes et
al. 2018, algorithm 3), so no fitted model has to be kept. The place is the geometric median, not the mean:
one passage found far off would pull a mean into the empty middle, where nothing is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.plots.map_data import KnowledgeMap
from pipeline.ports import Service
from pipeline.types import AskRequest, Language, Source

__all__ = [
    "NEAREST",
    "Place",
    "find_place",
    "geometric_median",
    "membership",
    "place_among",
    "question_request",
]

NEAREST = 8
_ROUNDS = 64
_CLOSEST = 1e-6  # a place the middle falls on must not divide by zero


@dataclass(frozen=True, slots=True)
class Place:
    """A question on the map.

    Attributes:
        question: As understood, without flags.
        flat: Its place in the plane; None when no passage found for it is on the map.
        deep: Its place in space; likewise.
        nearest: The passages found, best first.
    """

    question: str
    flat: tuple[float, ...] | None
    deep: tuple[float, ...] | None
    nearest: tuple[Source, ...]


def find_place(
    shown: KnowledgeMap,
    service: Service,
    request: AskRequest,
    cancelled: Callable[[], bool] = lambda: False,
) -> Place:
    """Search for a question and place it.

    Args:
        shown: The map.
        service: What searches.
        request: As ``question_request`` makes it.
        cancelled: As in `pipeline.ports.Service.ask`.

    Raises:
        OtvetError: As `pipeline.ports.Service.ask`.
    """
    reply = service.ask(request, cancelled)
    return place_among(shown, reply.question, reply.sources)


def question_request(question: str, language: Language) -> AskRequest:
    """The search whose sources are the question's neighbourhood."""
    return AskRequest(question=question, top_k=NEAREST, scores=True, language=language)


def place_among(shown: KnowledgeMap, question: str, sources: Sequence[Source]) -> Place:
    """The place of a question, given the passages found for it."""
    points = {point.id: point for point in shown.points}
    found = [(points[source.chunk_id], _closeness(source)) for source in sources if source.chunk_id in points]
    if not found:
        return Place(question, None, None, tuple(sources))
    weights = membership([1 - closeness for _, closeness in found])
    flat, deep = (
        tuple(np.round(geometric_median(np.array(places, dtype=np.float64), weights), 4).tolist())
        for places in ([point.flat for point, _ in found], [point.deep for point, _ in found])
    )
    return Place(question, flat, deep, tuple(sources))


def membership(distances: Sequence[float]) -> NDArray[np.float64]:
    """Weights that sum to 1: ``exp(-(d - nearest) / s)``, with ``s`` such that they sum to ``log2(count)``.

    Args:
        distances: At least one, in any order.
    """
    gaps = np.asarray(distances, dtype=np.float64) - min(distances)
    target = math.log2(len(gaps)) if len(gaps) > 1 else 1.0
    low, high = 1e-9, 1e3
    for _ in range(_ROUNDS):
        middle = math.sqrt(low * high)
        if np.exp(-gaps / middle).sum() > target:
            high = middle
        else:
            low = middle
    weights = np.exp(-gaps / high)
    return np.asarray(weights / weights.sum())


def geometric_median(places: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The point from which the weighted distances to all places sum to the least (Weiszfeld 1937).

    Args:
        places: float64, shape (places, dimensions).
        weights: float64, shape (places,), above 0 or 0, sum above 0.
    """
    middle = weights @ places / weights.sum()
    for _ in range(_ROUNDS):
        distances = np.maximum(np.linalg.norm(places - middle, axis=1), _CLOSEST)
        pulls = weights / distances
        middle = pulls @ places / pulls.sum()
    return np.asarray(middle)


def _closeness(source: Source) -> float:
    """The cosine of question and passage; the search's own score where it is not told."""
    return next((stage.score for stage in source.stages or () if stage.name == "dense"), source.score)
