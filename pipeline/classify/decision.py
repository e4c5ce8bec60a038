"""From the model's log probabilities of whole answers to a probability of each label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.types import ClassifyRequest

__all__ = ["Chances", "chances", "chosen"]


@dataclass(frozen=True, slots=True)
class Chances:
    """Probabilities of the labels, in their order, and of none of them; together they are 1."""

    labels: tuple[float, ...]
    none: float


def chances(scores: Sequence[float], none: float | None) -> Chances:
    """What the scores come to."""
    everything = [*scores, *([] if none is None else [none])]
    top = max(everything)
    weights = [math.exp(score - top) for score in everything]
    total = sum(weights)
    shares = [weight / total for weight in weights]
    return Chances(tuple(shares[: len(scores)]), 0.0 if none is None else shares[-1])


def chosen(found: Chances, request: ClassifyRequest) -> int | None:
    """The place of the label to name; None when none of them fits, or surely enough.

    Of equal ones the first is taken, so that the same request gives the same reply.
    """
    best = max(range(len(found.labels)), key=lambda place: found.labels[place])
    if not request.none:
        return best
    least = found.none if request.threshold is None else request.threshold
    return best if found.labels[best] > 0 and found.labels[best] >= least else None
