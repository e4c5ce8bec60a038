"""Measured speed of the generator: what estimates and ``/status`` are made of."""

from __future__ import annotations

import math
import threading
import time

from pipeline.generators.stats import GenerationStats, ReportsStats

__all__ = ["Meter"]

FIRST_GUESS_S = 5.0
"""Seconds a text is taken to need before one was measured."""

STUCK_S = 120.0
"""Silence after which a generator counts as stuck; reading one batch of a prompt takes a few seconds."""

WEIGHT = 0.3
"""Weight of the newest measurement in the running means."""


class Meter:
    """Running means over finished texts. Each lane is written by its own thread, all are read by any.

    Args:
        lanes: How many texts may be written at once.
    """

    def __init__(self, lanes: int = 1) -> None:
        self._lock = threading.Lock()
        self._seconds: float | None = None
        self._prefill_rate: float | None = None
        self._decode_rate: float | None = None
        self._finished = 0
        self._read = self._reused = self._written = 0
        self._started: list[float | None] = [None] * lanes
        self._beats = [0.0] * lanes

    def start(self, lane: int = 0) -> None:
        """A text is begun."""
        self._started[lane] = self._beats[lane] = time.monotonic()

    def beat(self, lane: int = 0) -> None:
        """It made a step."""
        self._beats[lane] = time.monotonic()

    def stop(self, lane: int = 0) -> None:
        """It is over, in whatever way."""
        self._started[lane] = None

    def finish(self, generator: object, *, complete: bool, lane: int = 0) -> None:
        """Take the measurements of a text that went well; an incomplete one says nothing about its length."""
        started = self._started[lane]
        with self._lock:
            if isinstance(generator, ReportsStats):
                self._take_rates(generator.stats)
            if complete and started is not None:
                self._finished += 1
                self._seconds = _mean(self._seconds, time.monotonic() - started)

    def estimate_s(self, texts: int) -> float:
        """Seconds until so many texts are finished."""
        spent = max((time.monotonic() - one for one in self._started if one is not None), default=0.0)
        rounds = math.ceil(texts / len(self._started))
        return max(0.0, rounds * self._mean_s() - min(spent, self._mean_s())) if texts else 0.0

    def retry_after_s(self) -> int:
        """Whole seconds until a place in a full line is likely to be free, at least 1."""
        return max(1, math.ceil(self.estimate_s(1)))

    def status(self) -> dict[str, object]:
        """Totals, means, and how long a text being written has been silent (None when idle)."""
        now = time.monotonic()
        lanes = zip(self._started, self._beats, strict=True)
        silent = max((now - beat for started, beat in lanes if started is not None), default=None)
        return {
            "finished": self._finished,
            "read_tokens": self._read,
            "reused_tokens": self._reused,
            "written_tokens": self._written,
            "mean_s": _rounded(self._seconds),
            "silent_s": _rounded(silent),
            "stuck": silent is not None and silent > STUCK_S,
            "prefill_tokens_per_s": _rounded(self._prefill_rate),
            "decode_tokens_per_s": _rounded(self._decode_rate),
        }

    def _mean_s(self) -> float:
        return FIRST_GUESS_S if self._seconds is None else self._seconds

    def _take_rates(self, stats: GenerationStats) -> None:
        self._read += stats.prompt_tokens - stats.reused_tokens
        self._reused += stats.reused_tokens
        self._written += stats.answer_tokens
        if stats.prompt_tokens - stats.reused_tokens > 8:  # a few tokens take a whole pass: not a rate
            self._prefill_rate = _mean(self._prefill_rate, stats.prefill_rate)
        if stats.answer_tokens > 1:
            self._decode_rate = _mean(self._decode_rate, stats.decode_rate)


def _mean(mean: float | None, value: float) -> float:
    return value if mean is None else (1 - WEIGHT) * mean + WEIGHT * value


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
