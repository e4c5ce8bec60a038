"""Where the time of one request, or of a part of it, goes."""

from __future__ import annotations

import time
from collections.abc import Mapping

__all__ = ["Clock"]


class Clock:
    """Milliseconds of each stage of one request, and the time left until its deadline."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """Milliseconds since the last lap."""
        now = time.perf_counter()
        self._laps[name] = (now - self._last) * 1000
        self._last = now

    def include(self, laps: Mapping[str, float]) -> None:
        """Take over the laps of a part that measures itself; the next lap starts now."""
        self._laps.update(laps)
        self._last = time.perf_counter()

    def mark_once(self, name: str) -> None:
        """Milliseconds since the start, the first time this is called with this name."""
        self._laps.setdefault(name, self._elapsed_s() * 1000)

    def left_s(self, limit_s: float) -> float:
        """Seconds until a deadline that is counted from the start; negative when it has passed."""
        return limit_s - self._elapsed_s()

    def laps_ms(self) -> dict[str, float]:
        """All laps so far, for whoever includes them."""
        return dict(self._laps)

    def timings_ms(self) -> dict[str, float]:
        """All laps so far, and ``total``."""
        return {**self._laps, "total": self._elapsed_s() * 1000}

    def _elapsed_s(self) -> float:
        return time.perf_counter() - self._started
