"""What ``load.py`` finds: figures, printed as they come, and the promises that were broken."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Report", "Tally", "milliseconds", "percentile"]


@dataclass
class Tally:
    """What one client, or all of them together, met."""

    answered: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)
    uncited: int = 0
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Take over another's counts."""
        self.answered += other.answered
        self.refused += other.refused
        self.wrong += other.wrong
        self.mixed += other.mixed
        self.uncited += other.uncited
        for kind, times in other.seconds.items():
            self.seconds.setdefault(kind, []).extend(times)

    @property
    def generated(self) -> int:
        """Answers that the generator wrote."""
        return sum(count for kind, count in self.answered.items() if kind != "search")


@dataclass
class Report:
    """Figures and verdicts.

    Attributes:
        figures: By name, as JSON values.
        failures: Promises broken that hold on any machine.
        slow: Promises about time that were broken; a machine busy with other things breaks them too.
    """

    figures: dict[str, object] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)

    def note(self, name: str, value: Mapping[str, object] | object) -> None:
        """Keep a figure and print it at once: a run takes minutes."""
        self.figures[name] = value
        cells = value if isinstance(value, Mapping) else {"": value}
        for key, cell in cells.items():
            if cell not in ([], {}, ""):
                print(f"{f'{name} {key}':<34} {cell}", flush=True)

    def must(self, fact: bool, promise: str) -> None:
        """A promise that holds on any machine."""
        if not fact:
            self.failures.append(promise)

    def should(self, fact: bool, promise: str) -> None:
        """A promise about time."""
        if not fact:
            self.slow.append(promise)

    def add(self, phase: str, tally: Tally) -> None:
        """What the clients of a phase met; every one must have got what the contract promises."""
        counts: dict[str, Any] = {
            "answered": dict(tally.answered),
            "refused": dict(tally.refused),
            "without_a_code": tally.uncited,
            "median_s": {kind: round(statistics.median(times), 4) for kind, times in tally.seconds.items()},
            "wrong": tally.wrong[:5],
            "mixed": tally.mixed[:5],
        }
        self.note(phase, counts)
        self.must(not tally.wrong, f"{phase}: every request is answered or refused with Retry-After")
        self.must(not tally.mixed, f"{phase}: no answer is mixed with another")

    def close(self) -> bool:
        """Note the verdict; True when no promise was broken that holds on any machine."""
        self.note("failures", self.failures)
        self.note("slow", self.slow)
        self.note("promises", "failed" if self.failures else "slow" if self.slow else "kept")
        return not self.failures


def percentile(times: Sequence[float], share: int) -> float:
    """The value under which so many of a hundred lie; the largest for 100."""
    return sorted(times)[min(len(times) - 1, len(times) * share // 100)]


def milliseconds(times: Sequence[float]) -> dict[str, object]:
    """Count, median, 99th percentile and maximum."""
    shares = (("p50", 50), ("p99", 99), ("max", 100))
    return {"asked": len(times)} | {name: round(percentile(times, share) * 1000, 1) for name, share in shares}
