"""The jobs of one service: begun once, found again by id or key, bounded in number, memory and age."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from pipeline.errors import BusyError, CancelledError, OtvetError, RequestError
from pipeline.jobs.job import Job
from pipeline.jobs.shelf import RETRY_AFTER_S, Key, Limits, Shelf
from pipeline.ports import Service
from pipeline.types import AskRequest, Event, Failed, Finished, Reply

__all__ = ["JobBook"]

T = TypeVar("T")

SEARCH_S = 10.0
LINE_S = 2.0
"""Seconds that a caller waits to hear whether its question was refused: for the search, which may have to
wait for a core, and then for a place in the line, which takes longer only while the model loads."""

logger = logging.getLogger(__name__)


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
        self._shelf: Shelf[Job[T]] = Shelf(self._limits, now)
        self._lock = threading.Lock()
        self._followers = 0

    def submit(self, request: AskRequest, tag: T, key: Key | None = None) -> Job[T]:
        """Begin a job, or find the one that runs or went well under the same key.

        Returns once the question is in the line, so that a refusal is told here and not later.

        Raises:
            KeyConflictError: The key stands for another request.
            BusyError: The book or the generator's line is full.
            OtvetError: Whatever the service raises before it begins to answer.
        """
        job = self._shelf.enter(lambda: Job(tag, key), lambda job: self._work(job, request), key)
        job.wait_decided(SEARCH_S, LINE_S)
        if refusal := job.refusal:
            raise refusal
        return job

    def find(self, job_id: str) -> Job[T]:
        """The job with an id.

        Raises:
            JobNotFoundError: There is none, or no more.
        """
        return self._shelf.find(job_id)

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
        return self._shelf.status()

    def close(self) -> None:
        """Give up all that runs, and refuse what comes."""
        self._shelf.close()

    def _work(self, job: Job[T], request: AskRequest) -> None:
        try:
            for event in self._service.stream(request, lambda: job.ended):
                job.take(event)
                if isinstance(event, Failed):
                    _log(request, event.error)
        except Exception as error:  # noqa: BLE001 - logged, and told to whoever waits for the job
            _log(request, error)
            job.take(Failed(error))


def _log(request: AskRequest, error: Exception) -> None:
    if not isinstance(error, OtvetError):
        logger.error("request %s failed", request.request_id, exc_info=error)
    elif not isinstance(error, CancelledError | BusyError | RequestError):
        logger.warning("request %s: %s", request.request_id, error)
