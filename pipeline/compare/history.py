"""What every setting did over time: a line for each way of each set, beside the index."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from pipeline.compare.figures import Summary
from pipeline.compare.ways import Way
from pipeline.json_lines import read_json_lines
from pipeline.settings import Settings

__all__ = ["Entry", "append", "changes", "folder_of", "history_of", "read"]

Interval = tuple[float, float, float]
"""A value with the ends of its interval."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One way over one set, once.

    Attributes:
        when: ISO 8601, with the time zone; the same for all ways of a run.
        kb_version: The index that was asked.
        questions: Name of the file of questions.
        count: How many there were.
        settings: What the outcome depends on, strategy and reranker apart.
        is_default: What a question got that asked for nothing.
        figures: Measure -> value and interval.
        saving: As in `Summary`.
        chances: Measure -> how likely so large a difference from the default is by chance.
    """

    when: str
    kb_version: str
    questions: str
    count: int
    settings: Mapping[str, Any]
    way: Way
    is_default: bool
    figures: Mapping[str, Interval]
    saving: float | None
    chances: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        """As it is kept and sent."""
        return {
            "when": self.when,
            "kb_version": self.kb_version,
            "questions": self.questions,
            "count": self.count,
            "settings": dict(self.settings),
            "strategy": self.way.strategy,
            "reranker": self.way.reranker,
            "default": self.is_default,
            "figures": {name: list(values) for name, values in self.figures.items()},
            "saving": self.saving,
            "p": dict(self.chances),
        }


def folder_of(settings: Settings) -> Path:
    """Where history and journals lie; it need not exist."""
    return settings.embeddings / ".eval" / "compare"


def history_of(settings: Settings) -> Path:
    """The file of the history; it need not exist."""
    return folder_of(settings) / "history.jsonl"


def append(
    path: Path,
    found: Sequence[Summary],
    *,
    questions: str,
    count: int,
    kb_version: str,
    settings: Mapping[str, Any],
    default: Way,
) -> list[Entry]:
    """Keep the figures of a set, all with the time of now."""
    when = datetime.now(UTC).isoformat(timespec="milliseconds")
    entries = [
        Entry(
            when,
            kb_version,
            questions,
            count,
            settings,
            one.way,
            one.way == default,
            {name: (round(f.value, 4), round(f.low, 4), round(f.high, 4)) for name, f in one.figures.items()},
            None if one.saving is None else round(one.saving, 4),
            {name: round(change.p, 4) for name, change in one.against.items()},
        )
        for one in found
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(entry.as_json(), ensure_ascii=False) + "\n" for entry in entries)
    with path.open("ab", buffering=0) as file:
        file.write(lines.encode("utf-8", "replace"))
    return entries


def read(path: Path) -> list[Entry]:
    """All entries, the oldest first; a line that is none is told of in the log and passed over."""
    return sorted(read_json_lines(path, _entry), key=lambda entry: entry.when)


def changes(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """The time of each run and in what it differs from the run before; nothing of the first one."""
    runs = list({entry.when: entry for entry in entries}.values())
    told: list[tuple[str, str]] = []
    for before, run in pairwise(runs):
        names = sorted(before.settings.keys() | run.settings.keys())
        said = [
            f"{name} {before.settings.get(name)} → {run.settings.get(name)}"
            for name in names
            if before.settings.get(name) != run.settings.get(name)
        ]
        said += [f"kb {before.kb_version} → {run.kb_version}"] if before.kb_version != run.kb_version else []
        told.append((run.when, ", ".join(said) or "="))
    return told


def _entry(values: Mapping[str, Any]) -> Entry:
    figures = {str(name): tuple(map(float, some)) for name, some in values["figures"].items()}
    if any(len(some) != 3 for some in figures.values()):
        raise ValueError("a figure is a value and two ends")
    datetime.fromisoformat(values["when"])  # what is no time is no entry
    return Entry(
        when=values["when"],
        kb_version=str(values["kb_version"]),
        questions=str(values["questions"]),
        count=int(values["count"]),
        settings=dict(values["settings"]),
        way=Way(str(values["strategy"]), str(values["reranker"])),
        is_default=bool(values["default"]),
        figures={name: (some[0], some[1], some[2]) for name, some in figures.items()},
        saving=None if values["saving"] is None else float(values["saving"]),
        chances={str(name): float(p) for name, p in values["p"].items()},
    )
