"""What questions over databases cost: tokens and seconds, summed per day and route in one small file."""

from __future__ import annotations

import datetime as dt
import json
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

from pipeline.durable import put_in_place
from pipeline.types import DayCost, Step

__all__ = ["COSTS_FILE", "Costs"]

logger = logging.getLogger(__name__)

COSTS_FILE = "costs.jsonl"
"""Beside ``otvet.toml``."""

MOST_LINES = 2_000
"""Lines kept, a day and route each: more than a year of everything."""


class Costs:
    """Sums in a file of one JSON object a line. Thread-safe.

    Args:
        path: The file; it is made when there is something to write.
        today: The day that sums go to.
    """

    def __init__(self, path: Path, today: Callable[[], dt.date] = dt.date.today) -> None:
        self._path = path
        self._today = today
        self._lock = threading.Lock()
        self._sums: dict[tuple[str, str, str], DayCost] | None = None

    def add(self, route: str, strategy: str, steps: Iterable[Step]) -> None:
        """Add a question; a disk that cannot be written to costs the sums, not the answer."""
        steps = tuple(steps)
        with self._lock:
            sums = self._loaded()
            key = (self._today().isoformat(), route, strategy)
            before = sums.get(key, DayCost(*key))
            sums[key] = DayCost(
                *key,
                questions=before.questions + 1,
                calls=before.calls + sum(step.tokens_in > 0 for step in steps),
                tokens_in=before.tokens_in + sum(step.tokens_in for step in steps),
                tokens_out=before.tokens_out + sum(step.tokens_out for step in steps),
                seconds=round(before.seconds + sum(step.seconds for step in steps), 3),
            )
            self._write(sums)

    def days(self) -> list[DayCost]:
        """All sums, the newest day first."""
        with self._lock:
            return sorted(
                self._loaded().values(), key=lambda cost: (cost.day, cost.route, cost.strategy), reverse=True
            )

    def _loaded(self) -> dict[tuple[str, str, str], DayCost]:
        if self._sums is None:
            self._sums = {(cost.day, cost.route, cost.strategy): cost for cost in _read(self._path)}
        return self._sums

    def _write(self, sums: dict[tuple[str, str, str], DayCost]) -> None:
        while len(sums) > MOST_LINES:
            del sums[min(sums)]
        text = "".join(json.dumps(asdict(sums[key]), ensure_ascii=False) + "\n" for key in sorted(sums))
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            put_in_place(self._path, text.encode())
        except OSError as error:
            logger.warning("costs are not kept: %s", error)


def _read(path: Path) -> Iterable[DayCost]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        try:
            yield DayCost(**json.loads(line))
        except (ValueError, TypeError):  # of another version, or cut by a full disk: its sums are lost
            logger.warning("a line of %s is not understood", path.name)
