"""The jobs of one service: begun once, found again by id or key, bounded in number, memory and age."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from pipeline.errors import (
    BusyError,
    CancelledError,
    JobNotFoundError,
    KeyConflictError,
    OtvetError,
    RequestError,
)
from pipeline.jobs.job import Job, Key
from pipeline.ports import Service
from pipeline.types import AskRequest, Event, Failed, Finished, Reply

__all__ = ["JobBook", "Limits"]

T = TypeVar("T")

SEARCH_S = 10.0
LINE_S = 2.0
"""Seconds that a caller waits to hear whether its question was refused: for the search, which may have to
wait for a core, and then for a place in the line, which takes longer only while the model loads."""

RETRY_AFTER_S = 5

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a book holds.

    Attributes:
        active: Jobs at work or in the line; each has a thread.
        followers: Callers that wait for a job's end at the same time; each keeps a server's thread.
        kept: Finished jobs kept.
        kept_bytes: Memory of their texts.
        lifetime_s: Seconds for which a finished job is kept.
    """

    active: int = 16
    followers: int = 8
    kept: int = 200
    kept_bytes: int = 16 << 20
    lifetime_s: float = 600.0


class JobBook(Generic[T]):
    """Begins jobs and finds them again. Thread-safe.

    Args:
        service: Answers the questions.
        limits: How much to hold.
        now: The clock, in seconds, by which finished jobs age.
    """

    def __init__(
        self, service: Service, limits: Limits | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._service = service
        self._limits = limits or Limits()
        self._now = now
        self._lock = threading.Lock()
        self._active: dict[str, Job[T]] = {}
        # Finished jobs, oldest first, each with the moment of its end and its size.
        self._kept: OrderedDict[str, tuple[Job[T], float, int]] = OrderedDict()
        self._kept_bytes = 0
        self._named: dict[tuple[str, str], Job[T]] = {}
        self._followers = 0
        self._closed = False

    def submit(self, request: AskRequest, tag: T, key: Key | None = None) -> Job[T]:
        """Begin a job, or find the one that runs or went well under the same key.

        Returns once the question is in the line, so that a refusal is told here and not later.

        Raises:
            KeyConflictError: The key stands for another request.
            BusyError: The book or the generator's line is full.
            OtvetError: Whatever the service raises before it begins to answer.
        """
        with self._lock:
            self._forget()
            job = self._known(key) or self._begin(request, tag, key)
        job.wait_decided(SEARCH_S, LINE_S)
        if refusal := job.refusal:
            raise refusal
        return job

    def find(self, job_id: str) -> Job[T]:
        """The job with an id.

        Raises:
            JobNotFoundError: There is none, or no more.
        """
        with self._lock:
            self._forget()
            kept = self._kept.get(job_id)
            job = kept[0] if kept else self._active.get(job_id)
        if job is None:
            raise JobNotFoundError(what=job_id, minutes=round(self._limits.lifetime_s / 60))
        return job

    def follow(self, job: Job[T], cancelled: Callable[[], bool]) -> Iterator[Event]:
        """`Job.follow`, for a bounded number of callers at once.

        Raises:
            BusyError: So many follow already.
            CancelledError: ``cancelled()`` became true; the job goes on.
        """
        with self._lock:
            if self._followers >= self._limits.followers:
                raise BusyError(waiting=self._followers, retry_after_s=RETRY_AFTER_S)
            self._followers += 1
        try:
            yield from job.follow(cancelled)
        finally:
            with self._lock:
                self._followers -= 1

    def result(self, job: Job[T], cancelled: Callable[[], bool]) -> Reply:
        """Wait for the reply.

        Raises:
            BusyError: Too many wait already.
            CancelledError: ``cancelled()`` became true, or the job was given up.
            OtvetError: The job failed.
        """
        for event in self.follow(job, cancelled):
            if isinstance(event, Finished):
                return event.reply
            if isinstance(event, Failed):
                raise event.error
        raise CancelledError

    def status(self) -> dict[str, int]:
        """How much the book holds."""
        with self._lock:
            self._forget()
            return {"active": len(self._active), "kept": len(self._kept), "kept_bytes": self._kept_bytes}

    def close(self) -> None:
        """Give up all that runs, and refuse what comes."""
        with self._lock:
            self._closed = True
            active = list(self._active.values())
        for job in active:
            job.cancel()

    def _known(self, key: Key | None) -> Job[T] | None:
        job = self._named.get((key.client, key.name)) if key else None
        if key is None or job is None or job.view().state in ("failed", "cancelled"):
            return None
        if job.key != key:
            raise KeyConflictError(name=key.name)
        return job

    def _begin(self, request: AskRequest, tag: T, key: Key | None) -> Job[T]:
        if self._closed:
            raise CancelledError
        if len(self._active) >= self._limits.active:
            raise BusyError(waiting=len(self._active), retry_after_s=RETRY_AFTER_S)
        job = Job(tag, key)
        threading.Thread(target=self._work, args=(job, request), name="otvet-job", daemon=True).start()
        self._active[job.id] = job
        if key:
            self._named[key.client, key.name] = job
        return job

    def _work(self, job: Job[T], request: AskRequest) -> None:
        try:
            for event in self._service.stream(request, lambda: job.ended):
                job.take(event)
                if isinstance(event, Failed):
                    _log(request, event.error)
        except Exception as error:  # noqa: BLE001 - logged, and told to whoever waits for the job
            _log(request, error)
            job.take(Failed(error))
        # Without a last event nobody must wait for ever.
        job.cancel()
        self._settle(job)

    def _settle(self, job: Job[T]) -> None:
        with self._lock:
            del self._active[job.id]
            if job.refusal is not None:
                # Its caller has heard; kept, a flood of refusals would drive out the replies.
                self._unname(job)
                return
            size = job.size()
            self._kept[job.id] = (job, self._now(), size)
            self._kept_bytes += size
            self._forget()

    def _forget(self) -> None:
        limits = self._limits
        while self._kept:
            job, ended_at, size = next(iter(self._kept.values()))
            old = self._now() - ended_at >= limits.lifetime_s
            if not old and len(self._kept) <= limits.kept and self._kept_bytes <= limits.kept_bytes:
                return
            del self._kept[job.id]
            self._kept_bytes -= size
            self._unname(job)

    def _unname(self, job: Job[T]) -> None:
        key = job.key
        if key and self._named.get((key.client, key.name)) is job:
            del self._named[key.client, key.name]


def _log(request: AskRequest, error: Exception) -> None:
    if not isinstance(error, OtvetError):
        logger.error("request %s failed", request.request_id, exc_info=error)
    elif not isinstance(error, CancelledError | BusyError | RequestError):
        logger.warning("request %s: %s", request.request_id, error)
