"""Work in the background, of any kind: begun once, found by id or key, bounded in number, memory and age."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pipeline.errors import BusyError, CancelledError, JobNotFoundError, KeyConflictError, OtvetError

__all__ = ["RETRY_AFTER_S", "Entry", "Key", "Limits", "Shelf"]

RETRY_AFTER_S = 5


@dataclass(frozen=True, slots=True)
class Key:
    """A caller's own name for a request, and a digest of what it asked under that name."""

    client: str
    name: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a shelf holds.

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


class Entry(Protocol):
    """What a shelf must know of a job."""

    @property
    def id(self) -> str:
        """A name nobody can guess."""
        ...

    @property
    def key(self) -> Key | None:
        """The caller's name for the request, if it has one."""
        ...

    @property
    def in_vain(self) -> bool:
        """It failed or was given up: the same request may be tried anew."""
        ...

    @property
    def refusal(self) -> OtvetError | None:
        """Why it was turned away before anything was done."""
        ...

    def cancel(self) -> None:
        """Give it up; harmless when it has ended."""
        ...

    def size(self) -> int:
        """Bytes of memory that its texts take."""
        ...


E = TypeVar("E", bound=Entry)


class Shelf(Generic[E]):
    """Begins jobs and finds them again. Thread-safe.

    Args:
        limits: How much to hold.
        now: The clock, in seconds, by which finished jobs age.
        missing: The error that says that there is no such job.
    """

    def __init__(
        self,
        limits: Limits,
        now: Callable[[], float] = time.monotonic,
        missing: type[JobNotFoundError] = JobNotFoundError,
    ) -> None:
        self._limits = limits
        self._now = now
        self._missing = missing
        self._lock = threading.Lock()
        self._active: dict[str, E] = {}
        # Finished jobs, oldest first, each with the moment of its end and its size.
        self._kept: OrderedDict[str, tuple[E, float, int]] = OrderedDict()
        self._kept_bytes = 0
        self._named: dict[tuple[str, str], E] = {}
        self._closed = False

    def enter(self, make: Callable[[], E], work: Callable[[E], None], key: Key | None = None) -> E:
        """Begin a job in a thread of its own, or find the one that runs or went well under the same key.

        Args:
            make: A new job; it has this key.
            work: Does it, and raises nothing. A job that has not ended then is given up.
            key: The caller's name for the request.

        Raises:
            KeyConflictError: The key stands for another request.
            BusyError: The shelf is full.
            CancelledError: It was closed.
        """
        with self._lock:
            self._forget()
            return self._known(key) or self._begin(make, work, key)

    def find(self, job_id: str) -> E:
        """The job with an id.

        Raises:
            JobNotFoundError: There is none, or no more.
        """
        with self._lock:
            self._forget()
            kept = self._kept.get(job_id)
            job = kept[0] if kept else self._active.get(job_id)
        if job is None:
            raise self._missing(what=job_id, minutes=round(self._limits.lifetime_s / 60))
        return job

    def status(self) -> dict[str, int]:
        """How much the shelf holds."""
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

    def _known(self, key: Key | None) -> E | None:
        job = self._named.get((key.client, key.name)) if key else None
        if key is None or job is None or job.in_vain:
            return None
        if job.key != key:
            raise KeyConflictError(name=key.name)
        return job

    def _begin(self, make: Callable[[], E], work: Callable[[E], None], key: Key | None) -> E:
        if self._closed:
            raise CancelledError
        if len(self._active) >= self._limits.active:
            raise BusyError(waiting=len(self._active), retry_after_s=RETRY_AFTER_S)
        job = make()
        threading.Thread(target=self._run, args=(job, work), name="otvet-job", daemon=True).start()
        self._active[job.id] = job
        if key:
            self._named[key.client, key.name] = job
        return job

    def _run(self, job: E, work: Callable[[E], None]) -> None:
        work(job)
        # Without a last word nobody must wait for ever.
        job.cancel()
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

    def _unname(self, job: E) -> None:
        key = job.key
        if key and self._named.get((key.client, key.name)) is job:
            del self._named[key.client, key.name]
