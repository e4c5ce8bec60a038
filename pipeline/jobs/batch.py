"""A batch of texts on its way under labels: begun once, looked at from any connection, given up at will."""

from __future__ import annotations

import logging
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pipeline.errors import BatchNotFoundError, CancelledError, OtvetError
from pipeline.jobs.job import State, is_over
from pipeline.jobs.shelf import Key, Limits, Shelf
from pipeline.ports import Service
from pipeline.types import Classified, ClassifyRequest

__all__ = ["Batch", "BatchBook", "BatchView"]

LIMITS = Limits(active=8, followers=8, kept=50, kept_bytes=8 << 20)

POLL_S = 0.05
"""How often a waiting caller looks whether it has left."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BatchView:
    """A batch at one moment.

    Attributes:
        results: Of the texts that are done, in their order.
        estimate_s: Seconds until the last one is likely to be done; None before the first and at the end.
        error: Why it failed; what was done before stays in ``results``.
    """

    state: State
    results: tuple[Classified, ...]
    estimate_s: float | None
    error: OtvetError | None

    @property
    def ended(self) -> bool:
        """Nothing changes any more."""
        return is_over(self.state)


class Batch:
    """Takes results one by one. Thread-safe.

    Attributes:
        id: 128 random bits in hexadecimal: whoever does not know it cannot guess it.
        key: The caller's name for the request, if it has one.
        labels: The labels of the request.
        total: How many texts it has.
        notes: Sentences for the caller about the request.
    """

    def __init__(self, request: ClassifyRequest, notes: tuple[str, ...], key: Key | None) -> None:
        self.id = secrets.token_hex(16)
        self.key = key
        self.labels = request.labels
        self.total = len(request.texts)
        self.notes = notes
        self._lock = threading.Condition()
        self._state: State = "queued"
        self._begun = time.monotonic()
        self._results: list[Classified] = []
        self._error: OtvetError | None = None

    @property
    def ended(self) -> bool:
        """Nothing changes any more; true at once when it is given up."""
        return is_over(self._state)

    @property
    def in_vain(self) -> bool:
        """It failed or was given up: the same request may be tried anew."""
        return self._state in ("failed", "cancelled")

    @property
    def refusal(self) -> OtvetError | None:
        """None: whatever stops a batch is told by its state."""
        return None

    def take(self, result: Classified) -> None:
        """Note the next result; the last one ends the batch."""
        with self._lock:
            if self.ended:
                return
            self._results.append(result)
            self._state = "done" if len(self._results) == self.total else "running"
            self._lock.notify_all()

    def fail(self, error: OtvetError) -> None:
        """End without the rest of the results."""
        with self._lock:
            if not self.ended:
                self._state = "cancelled" if isinstance(error, CancelledError) else "failed"
                self._error = error
                self._lock.notify_all()

    def wait_ended(self, seconds: float, cancelled: Callable[[], bool]) -> None:
        """Return once nothing changes any more, the seconds are over, or ``cancelled()`` is true."""
        until = time.monotonic() + seconds
        with self._lock:
            while not self.ended and not cancelled() and (left := until - time.monotonic()) > 0:
                self._lock.wait(min(left, POLL_S))

    def cancel(self) -> None:
        """Give it up; harmless when it has ended."""
        self.fail(CancelledError())

    def view(self) -> BatchView:
        """How it stands now."""
        with self._lock:
            done, estimate = len(self._results), None
            if done and not self.ended:
                estimate = (time.monotonic() - self._begun) / done * (self.total - done)
            return BatchView(self._state, tuple(self._results), estimate, self._error)

    def size(self) -> int:
        """Bytes of memory that its results take, roughly."""
        number = sys.getsizeof(0.0)
        return sum(map(sys.getsizeof, self.labels)) + len(self._results) * (len(self.labels) + 20) * number


class BatchBook:
    """The batches of one service. Thread-safe."""

    def __init__(
        self, service: Service, limits: Limits = LIMITS, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._service = service
        self._shelf: Shelf[Batch] = Shelf(limits, now, BatchNotFoundError)
        # Each keeps a server's thread.
        self._waiting = threading.Semaphore(limits.followers)

    def submit(self, request: ClassifyRequest, notes: tuple[str, ...], key: Key | None = None) -> Batch:
        """Begin a batch, or find the one that runs or went well under the same key.

        Raises:
            KeyConflictError: The key stands for another request.
            BusyError: Too many batches are at work.
            OtvetError: The service cannot classify at all.
        """
        batch = Batch(request, notes, key)
        results = self._service.classify(request, lambda: batch.ended)
        return self._shelf.enter(lambda: batch, lambda batch: _work(batch, results), key)

    def find(self, batch_id: str) -> Batch:
        """The batch with an id.

        Raises:
            BatchNotFoundError: There is none, or no more.
        """
        return self._shelf.find(batch_id)

    def wait_ended(self, batch: Batch, seconds: float, cancelled: Callable[[], bool]) -> None:
        """`Batch.wait_ended`; returns at once while too many callers wait already."""
        if seconds > 0 and self._waiting.acquire(blocking=False):
            try:
                batch.wait_ended(seconds, cancelled)
            finally:
                self._waiting.release()

    def close(self) -> None:
        """Give up all that runs, and refuse what comes."""
        self._shelf.close()


def _work(batch: Batch, results: Iterator[Classified]) -> None:
    try:
        for result in results:
            batch.take(result)
    except OtvetError as error:
        if not isinstance(error, CancelledError):
            logger.warning("batch %s: %s", batch.id, error)
        batch.fail(error)
    except Exception:  # a bug must end the batch, or whoever looks at it waits for ever
        logger.exception("batch %s failed", batch.id)
        batch.fail(OtvetError())
