"""How far the refusal model's threshold is moved for one knowledge base.

The model of ``refusal.json`` holds for all bases; where its answers lie differs from base to base (a base
about one product is nearer to every question about that product than an encyclopedia is). Two samples show
where: questions about other things that ship with the product, and questions made of the base's own
sentences. The threshold is put half-way between what almost no foreign question reaches and what almost
every question of the base does; only that point is moved, in log-odds, and never far, so a base too small
to tell keeps the product's own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pipeline.types import Language

__all__ = ["FARTHEST", "STRICTNESS_STEP", "foreign_questions", "shift", "shift_abroad"]

STRICTNESS_STEP = 0.75
"""Log-odds that one step of ``search.strictness`` adds to the threshold."""
FARTHEST = 2.0
"""Log-odds the calibration moves the threshold at most."""
FARTHEST_ABROAD = 1.0
"""The same where question and evidence are in different languages."""
PRIOR_QUESTIONS = 8
"""A sample of this many questions counts as much as the product's own threshold."""
FEWEST = 8
"""Fewer questions than this tell nothing."""
MOST_FOREIGN = 1.645
"""Standard deviations above the middle of a normal distribution that 95 of 100 do not reach."""
_MAD = 1.4826

Floats = NDArray[np.float64]


def shift(foreign: Sequence[float], own: Sequence[float], own_gap: float) -> float:
    """Log-odds to take off a question whose evidence is in its own language.

    Args:
        foreign: Log-odds of the foreign questions. A few of them may have an answer here after all (a
            cookery book knows how long to boil an egg): the middle and the median deviation do not mind.
        own: Log-odds of the questions made of the base's own sentences.
        own_gap: How far below the middle of those the worst real questions lie.
    """
    count = min(len(foreign), len(own))
    if count < FEWEST:
        return 0.0
    between = (_reached_by_few(foreign) + float(np.median(own)) - own_gap) / 2
    return _trusted(between, count, FARTHEST)


def shift_abroad(foreign: Sequence[float]) -> float:
    """Log-odds to take off a question whose evidence is in another language.

    Nothing of the base stands in for such a question, so the product's own threshold takes that place.
    """
    if len(foreign) < FEWEST:
        return 0.0
    return _trusted(_reached_by_few(foreign) / 2, len(foreign), FARTHEST_ABROAD)


@cache
def foreign_questions(language: Language) -> tuple[str, ...]:
    """Questions about cooking, stars, football and the like."""
    raw = resources.files(__package__).joinpath("foreign_questions.json").read_text(encoding="utf-8")
    return tuple(json.loads(raw)[language])


def _reached_by_few(values: Sequence[float]) -> float:
    middle = float(np.median(values))
    return middle + MOST_FOREIGN * _MAD * float(np.median(np.abs(np.asarray(values) - middle)))


def _trusted(moved: float, count: int, farthest: float) -> float:
    """Drawn towards 0, the less so the more questions there were."""
    return float(np.clip(moved * count / (count + PRIOR_QUESTIONS), -farthest, farthest))
