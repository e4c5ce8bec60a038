"""One text in the making, as the caller that asked for it sees it."""

from __future__ import annotations

import queue
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pipeline.errors import CancelledError, OtvetError
from pipeline.ports import ChatMessage, Sampling

__all__ = ["End", "Generation", "Job", "Line"]

End = Literal["complete", "deadline", "cancelled"]

POLL_S = 0.05
"""How often a waiting caller looks whether it was cancelled."""


@dataclass(eq=False, slots=True)
class Job:
    """What the worker knows of a generation; ``deadline`` is a moment of ``time.monotonic``.

    With ``continuations`` nothing is written: they are scored, and ``scores`` is set before the end is told.
    """

    messages: tuple[ChatMessage, ...]
    sampling: Sampling
    client: str
    cancelled: Callable[[], bool]
    deadline: float
    output: queue.SimpleQueue[str | OtvetError | None] = field(default_factory=queue.SimpleQueue)
    abandoned: bool = False
    continuations: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()

    def over(self) -> End | None:
        """Why to stop now, if at all."""
        if self.abandoned or self.cancelled():
            return "cancelled"
        return "deadline" if time.monotonic() >= self.deadline else None


class Line(Protocol):
    """The worker, as a generation sees it."""

    def withdraw(self, job: Job) -> None:
        """Forget a job: out of the line, or stopped at its next token."""
        ...

    def place(self, job: Job) -> int:
        """Texts to be finished before this one starts; 0 while it is written and afterwards."""
        ...

    def estimate_s(self, job: Job) -> float:
        """Seconds until the job is likely to start."""
        ...

    def remaining_s(self, job: Job) -> float:
        """Seconds until the job is likely to be finished."""
        ...


class Generation:
    """Iterate over it, once, for the pieces of the text.

    A caller that stops iterating, calls ``cancel`` or drops the object frees the worker at the next token.
    """

    def __init__(self, line: Line, job: Job) -> None:
        self._line = line
        self._job = job
        self._end: End | None = None
        weakref.finalize(self, line.withdraw, job).atexit = False

    @property
    def end(self) -> End | None:
        """How the text ended; None before that and after an error."""
        return self._end

    def place(self) -> int:
        """Texts to be finished before this one starts; 0 while it is written and afterwards."""
        return self._line.place(self._job)

    def estimate_s(self) -> float:
        """Seconds until this text is likely to start, from the measured time of the last ones."""
        return self._line.estimate_s(self._job)

    def remaining_s(self) -> float:
        """Seconds until the whole text is likely to be there, from the measured time of the last ones."""
        return self._line.remaining_s(self._job)

    def places(self) -> Iterator[int]:
        """The place in the line whenever it changes, the first at once; ends with 0 or when it is over."""
        known: int | None = None
        while known != 0 and (known is None or self._job.over() is None):
            place = self.place()
            if place != known:
                known = place
                yield place
            else:
                time.sleep(POLL_S)

    def cancel(self) -> None:
        """Give up the text; harmless at any time and from any thread."""
        self._line.withdraw(self._job)

    def __iter__(self) -> Iterator[str]:
        """Pieces of whole characters.

        Raises:
            CancelledError: The job's ``cancelled()`` became true, or the worker is shutting down.
            PromptTooLongError: The prompt leaves no room for an answer.
            GeneratorError: The engine failed.
        """
        try:
            while (piece := self._next()) is not None:
                yield piece
        finally:
            self.cancel()

    def text(self) -> str:
        """The whole text; waits for it."""
        return "".join(self)

    def scores(self) -> tuple[float, ...]:
        """Scores of the continuations; waits for them. Empty when the deadline came first."""
        self.text()
        return self._job.scores

    def _next(self) -> str | None:
        while True:
            try:
                item = self._job.output.get(timeout=POLL_S)
            except queue.Empty:
                # The worker may be busy with another job, or deep in a long prompt: look for ourselves.
                if self._job.over() is None:
                    continue
                item = None
            if item is None:
                self._end = self._job.over() or "complete"
                item = CancelledError() if self._end == "cancelled" else None
            if isinstance(item, OtvetError):
                self._end = "cancelled" if isinstance(item, CancelledError) else None
                raise item
            return item
