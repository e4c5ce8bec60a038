"""A door for a few at a time, with a bounded line before it."""

from __future__ import annotations

import threading
from types import TracebackType

from pipeline.errors import BusyError

__all__ = ["Gate"]

RETRY_AFTER_S = 1


class Gate:
    """Lets ``slots`` callers in at once. Thread-safe; use it in a ``with`` statement.

    More threads than cores do not make arithmetic faster, they only keep each other, and every short
    request, waiting.

    Args:
        slots: Callers inside at once.
        line: Callers that may wait; the next one is refused.

    Raises:
        BusyError: On entering, when the line is full.
    """

    def __init__(self, slots: int, line: int) -> None:
        self._slots = threading.Semaphore(slots)
        self._room = threading.Semaphore(slots + line)
        self._line = line

    def __enter__(self) -> None:
        if not self._room.acquire(blocking=False):
            raise BusyError(waiting=self._line, retry_after_s=RETRY_AFTER_S)
        self._slots.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._slots.release()
        self._room.release()
