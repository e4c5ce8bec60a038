"""Where a question lies on the map: among the passages that the search finds for it.

The weights are those by which UMAP itself places a new point (its ``transform`` starts from the mean of
the neighbours, weighted by the fuzzy membership of McInnes et al. 2018, algorithm 3), so no fitted model
has to be kept.
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

__all__ = ["NEAREST", "Place", "find_place", "membership", "place_among", "question_request"]

NEAREST = 8
_ROUNDS = 64


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
        tuple(np.round(weights @ np.array(places, dtype=np.float64), 4).tolist())
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


def _closeness(source: Source) -> float:
    """The cosine of question and passage; the search's own score where it is not told."""
    return next((stage.score for stage in source.stages or () if stage.name == "dense"), source.score)
