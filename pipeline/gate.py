"""A door for a few at a time, with a bounded line before it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pipeline.errors import BusyError, CancelledError

__all__ = ["Gate"]

RETRY_AFTER_S = 1

_LOOK_EVERY_S = 0.05
"""How often one who waits looks whether he still wants to come in."""


class Gate:
    """Lets ``slots`` callers in at once. Thread-safe.

    More threads than cores do not make arithmetic faster, they only keep each other, and every short
    request, waiting.

    Args:
        slots: Callers inside at once.
        line: Callers that may wait; the next one is refused.
    """

    def __init__(self, slots: int, line: int) -> None:
        self._slots = threading.Semaphore(slots)
        self._room = threading.Semaphore(slots + line)
        self._line = line

    @contextmanager
    def passing(self, cancelled: Callable[[], bool], within_s: float) -> Iterator[None]:
        """Wait for a place and keep it while the block runs.

        Args:
            cancelled: Looked at while waiting.
            within_s: Seconds to wait at most.

        Raises:
            BusyError: The line is full, or no place became free in time.
            CancelledError: ``cancelled()`` became true while waiting.
        """
        if not self._room.acquire(blocking=False):
            raise self._busy()
        try:
            self._wait(cancelled, time.monotonic() + within_s)
            try:
                yield
            finally:
                self._slots.release()
        finally:
            self._room.release()

    def _wait(self, cancelled: Callable[[], bool], until: float) -> None:
        while not self._slots.acquire(timeout=_LOOK_EVERY_S):
            if cancelled():
                raise CancelledError
            if time.monotonic() > until:
                raise self._busy()

    def _busy(self) -> BusyError:
        return BusyError(waiting=self._line, retry_after_s=RETRY_AFTER_S)
