"""Figures of a run: medians and ratios, against the targets and against the last recorded run."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Measured", "as_markdown", "from_json", "percentile", "recorded", "regressions", "table"]

_SLOWER = 0.9


@dataclass(frozen=True, slots=True)
class Measured:
    """One stage, measured on both sides in the same run, alternating.

    Attributes:
        stage: Key in the JSON files.
        title: What a person reads.
        naive: Seconds (or megabytes) of each round; empty where the plain pipeline has no such stage.
        ours: The same of our side.
        target: The ratio to reach, 0 where there is none.
        limit: The absolute guide for a quiet machine of 2 cores, 0 where there is none.
        unit: ``s`` or ``MB``.
        part: Which part of the rounds counts: 0.5 is the median, 0.99 the slowest hundredth.
        remark: What a reader must know about this figure.
    """

    stage: str
    title: str
    naive: Sequence[float]
    ours: Sequence[float]
    target: float = 0.0
    limit: float = 0.0
    unit: str = "s"
    part: float = 0.5
    remark: str = field(default="", kw_only=True)

    @property
    def pair(self) -> tuple[float | None, float]:
        """The figure of either side."""
        return percentile(self.naive, self.part) if self.naive else None, percentile(self.ours, self.part)

    @property
    def ratio(self) -> float | None:
        """How many times better ours is; None without another side."""
        naive, ours = self.pair
        return None if naive is None or not ours else naive / ours

    @property
    def verdict(self) -> str:
        """Whether the targets are reached: the ratio first, then the guide for a quiet machine of 2 cores."""
        words = []
        if self.target and self.ratio is not None:
            words.append("reached" if self.ratio >= self.target else "missed")
        if self.limit:
            words.append("within the guide" if self.pair[1] <= self.limit else "over the guide")
        return ", ".join(words)

    def as_json(self) -> dict[str, object]:
        """Everything, for the results file."""
        naive, ours = self.pair
        return {**asdict(self), "naive_figure": naive, "ours_figure": ours, "ratio": self.ratio}


def from_json(stored: Mapping[str, Any]) -> Measured:
    """A stage as `Measured.as_json` wrote it."""
    return Measured(**{name: stored[name] for name in Measured.__dataclass_fields__})


def percentile(values: Sequence[float], part: float) -> float:
    """The value that a part of the values does not exceed; 0.5 is the median."""
    if part == 0.5:
        return statistics.median(values)
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def table(rows: Iterable[Measured]) -> str:
    """The figures as lines of text."""
    lines = [f"{'':44} {'naive':>10} {'ours':>10} {'ratio':>8} {'target':>8} {'guide':>9}  rounds  verdict"]
    for row in rows:
        naive, ours = row.pair
        rounds = f"{len(row.naive)}/{len(row.ours)}"
        lines.append(
            f"{row.title:44} {_figure(naive, row.unit):>10} {_figure(ours, row.unit):>10} "
            f"{'' if row.ratio is None else f'{row.ratio:.1f}x':>8} "
            f"{f'{row.target:g}x' if row.target else '':>8} "
            f"{_figure(row.limit or None, row.unit):>9}  {rounds:<6}  {row.verdict}"
            + (f" ({row.remark})" if row.remark else "")
        )
    return "\n".join(lines)


def as_markdown(rows: Iterable[Measured]) -> str:
    """The figures as a table for the documentation."""
    lines = ["| what | plain | Otvet | ratio | target | guide | verdict |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        naive, ours = row.pair
        cells = (
            row.title + (f" ({row.remark})" if row.remark else ""),
            _figure(naive, row.unit) or "–",
            _figure(ours, row.unit),
            "–" if row.ratio is None else f"{row.ratio:.1f}×",
            f"≥ {row.target:g}×" if row.target else "–",
            f"≤ {_figure(row.limit, row.unit)}" if row.limit else "–",
            row.verdict or "–",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def recorded(file: Path, mode: str) -> dict[str, float]:
    """Ratios of the last recorded run of this mode, empty where there is none."""
    if not file.is_file():
        return {}
    ratios: dict[str, float] = json.loads(file.read_text(encoding="utf-8")).get(mode, {}).get("ratios", {})
    return ratios


def regressions(rows: Iterable[Measured], before: Mapping[str, float]) -> list[str]:
    """Stages whose ratio fell by more than a tenth, as sentences."""
    return [
        f"{row.stage}: {row.ratio:.1f}x, recorded {before[row.stage]:.1f}x"
        for row in rows
        if row.ratio is not None and row.stage in before and row.ratio < _SLOWER * before[row.stage]
    ]


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    if unit == "MB":
        return f"{value:.0f} MB"
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"
