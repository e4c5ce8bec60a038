"""From the model's logarithms for all answers to a probability of each label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.types import ClassifyRequest

__all__ = ["CALIBRATION", "Calibration", "Chances", "chances", "chosen"]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What makes the model's confidence agree with how often it is right.

    Attributes:
        temperature: All logarithms are divided by it (Guo and others, "On Calibration of Modern Neural
            Networks", 2017): above 1 where a model is surer than it should be.
        none: Added to the logarithm of "none of them" first: how readily that is answered.
    """

    temperature: float
    none: float


CALIBRATION = Calibration(temperature=1.2, none=-0.5)
"""Fitted for the generator of the profile ``embedded`` by ``benchmarks/classify.py --fit``."""


@dataclass(frozen=True, slots=True)
class Chances:
    """Probabilities of the labels, in their order, and of none of them; together they are 1."""

    labels: tuple[float, ...]
    none: float


def chances(scores: Sequence[float], none: float | None, calibration: Calibration = CALIBRATION) -> Chances:
    """What the scores come to.

    Args:
        scores: The model's logarithm for each label.
        none: That for "none of them"; None where a label must come out.
        calibration: Of the model.
    """
    everything = [*scores, *([] if none is None else [none + calibration.none])]
    top = max(everything)
    weights = [math.exp((score - top) / calibration.temperature) for score in everything]
    total = math.fsum(weights)
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
