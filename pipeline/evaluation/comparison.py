"""What changed between two runs, and what of that is more than luck."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pipeline.evaluation.bootstrap import Change, Sample, adjusted, change
from pipeline.evaluation.summary import LOWER_IS_BETTER, SPEED

__all__ = ["ALPHA", "Compared", "compare"]

ALPHA = 0.05

Judgement = Literal["better", "worse", "same"]


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure in two runs.

    Attributes:
        p: Of its change, corrected for the number of measures (Holm).
        judgement: ``same`` where the change may be luck.
        counts: False for measures of speed: another program on the machine changes them, too.
    """

    measure: str
    change: Change
    p: float
    judgement: Judgement
    counts: bool


def compare(before: Mapping[str, Sample], after: Mapping[str, Sample]) -> list[Compared]:
    """Every measure that both runs have, over the questions that both have."""
    found = {
        name: one
        for name, sample in after.items()
        if name in before and (one := change(before[name], sample)) is not None
    }
    # Speed has a correction of its own: it must not cost the measures of quality their power.
    quality = [name for name in found if name not in SPEED]
    speed = [name for name in found if name in SPEED]
    chances = {
        name: p
        for names in (quality, speed)
        for name, p in zip(names, adjusted([found[name].p for name in names]), strict=True)
    }
    return [
        Compared(name, one, chances[name], _judgement(name, one, chances[name]), name not in SPEED)
        for name, one in found.items()
    ]


def _judgement(name: str, one: Change, p: float) -> Judgement:
    if p >= ALPHA or not one.difference:
        return "same"
    return "better" if (one.difference > 0) != (name in LOWER_IS_BETTER) else "worse"
