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
        counts: False for speed, which other programs on the machine change, too, and for a judge's opinion.
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
    # Each kind is held against its own: speed and opinions must not cost the measures of quality their power.
    kinds = ([name for name in pairs if _kind(name) == kind] for kind in ("quality", "speed", "opinion"))
    found = {
        name: p
        for names in kinds
        for name, p in zip(names, chances([pairs[name] for name in names]), strict=True)
    }
    return [_compared(name, change(*pair), found[name]) for name, pair in pairs.items()]


def _compared(name: str, one: Change, p: float) -> Compared:
    return Compared(name, one, p, _judgement(name, one, p), _kind(name) == "quality")


def _kind(name: str) -> Literal["quality", "speed", "opinion"]:
    if name in SPEED:
        return "speed"
    return "opinion" if name.startswith("judge_") else "quality"


def _judgement(name: str, one: Change, p: float) -> Judgement:
    if p >= ALPHA or not one.difference:
        return "same"
    return "better" if (one.difference > 0) != (name in LOWER_IS_BETTER) else "worse"
