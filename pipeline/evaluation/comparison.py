"""What changed between two runs, and what of that is more than luck."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pipeline.evaluation.bootstrap import Change, Sample, chances, change, paired
from pipeline.evaluation.summary import LOWER_IS_BETTER, SPEED

__all__ = ["ALPHA", "Compared", "compare"]

ALPHA = 0.05

Judgement = Literal["better", "worse", "same"]


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure in two runs.

    Attributes:
        p: How likely a change as large as this one is, in any of the measures, by luck.
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
    pairs = {
        name: pair
        for name, sample in after.items()
        if name in before and (pair := paired(before[name], sample)) is not None
    }
    # Speed is held against speed alone: it must not cost the measures of quality their power.
    quality = [name for name in pairs if name not in SPEED]
    speed = [name for name in pairs if name in SPEED]
    found = {
        name: p
        for names in (quality, speed)
        for name, p in zip(names, chances([pairs[name] for name in names]), strict=True)
    }
    return [_compared(name, change(*pair), found[name]) for name, pair in pairs.items()]


def _compared(name: str, one: Change, p: float) -> Compared:
    return Compared(name, one, p, _judgement(name, one, p), name not in SPEED)


def _judgement(name: str, one: Change, p: float) -> Judgement:
    if p >= ALPHA or not one.difference:
        return "same"
    return "better" if (one.difference > 0) != (name in LOWER_IS_BETTER) else "worse"
