"""One question on its way: what the service said of it so far, for whoever looks."""

from __future__ import annotations

import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pipeline.errors import CancelledError, OtvetError
from pipeline.jobs.shelf import Key
from pipeline.types import Event, Failed, Finished, Reply, Retrieved, Token, Waiting

__all__ = ["Job", "State", "View", "is_over"]

State = Literal["queued", "running", "done", "failed", "cancelled"]
T = TypeVar("T")

POLL_S = 0.05
"""How often a waiting caller looks whether it has been given up."""


def is_over(state: State) -> bool:
    """Nothing changes any more."""
    return state not in ("queued", "running")


@dataclass(frozen=True, slots=True)
class View:
    """A job at one moment.

    Attributes:
        place: Answers to be written before this one; None while that is not known, and at the end.
        estimate_s: Seconds until the reply is likely to be there; None likewise.
        found: Sources and extractive answer, once they are known and until the reply is there.
        text: The answer as far as it is written; in the end the checked one.
    """

    state: State = "queued"
    place: int | None = None
    estimate_s: float | None = None
    found: Reply | None = None
    text: str = ""
    reply: Reply | None = None
    error: OtvetError | None = None

    @property
    def ended(self) -> bool:
        """Nothing changes any more."""
        return is_over(self.state)


class Job(Generic[T]):
    """Takes the service's events, and tells them to any number of callers. Thread-safe.

    Attributes:
        id: 128 random bits in hexadecimal: whoever does not know it cannot guess it.
        tag: The caller's own, for example how the reply is to be written.
        key: The caller's name for the request, if it has one.
    """

    def __init__(self, tag: T, key: Key | None = None) -> None:
        self.id = secrets.token_hex(16)
        self.tag = tag
        self.key = key
        self._changed = threading.Condition()
        self._version = 0
        self._state: State = "queued"
        self._accepted = False
        self._waiting: Waiting | None = None
        self._told_at = 0.0
        self._found: Reply | None = None
        self._text = ""
        self._reply: Reply | None = None
        self._error: OtvetError | None = None

    def take(self, event: Event) -> None:
        """Note what the service says; nothing changes a job that has ended."""
        with self._changed:
            if self.ended:
                return
            self._note(event)
            self._version += 1
            self._changed.notify_all()

    def cancel(self) -> None:
        """Give the question up; harmless when it has ended."""
        self.take(Failed(CancelledError()))

    @property
    def ended(self) -> bool:
        """Nothing changes any more; true at once when it is given up."""
        return is_over(self._state)

    @property
    def in_vain(self) -> bool:
        """It failed or was given up: the same question may be tried anew."""
        return self._state in ("failed", "cancelled")

    @property
    def refusal(self) -> OtvetError | None:
        """Why the question was turned away before anything was written, a new object at every call."""
        error = self._error
        return None if self._accepted or error is None else type(error)(**error.values)

    def view(self) -> View:
        """How it stands now."""
        with self._changed:
            told = None if self.ended else self._waiting
            return View(
                self._state,
                place=told.place if told else None,
                # Between two messages of the line the time simply passes.
                estimate_s=max(0.0, told.estimate_s - (time.monotonic() - self._told_at)) if told else None,
                found=self._found,
                text=self._text,
                reply=self._reply,
                error=self._error,
            )

    def size(self) -> int:
        """Bytes of memory that its texts take."""
        view = self.view()
        texts = [] if view.reply else [view.text]
        for reply in filter(None, (view.found, view.reply)):
            texts += [reply.question, reply.answer.text, *reply.notes]
            texts += [citation.quote for citation in reply.answer.citations]
            for source in reply.sources:
                texts += [source.title, source.link or "", source.file, source.quote, source.chunk_id]
        return sum(map(sys.getsizeof, texts))

    def wait_decided(self, search_s: float, line_s: float) -> None:
        """Return once the question is in the line, answered or refused.

        Args:
            search_s: Seconds to wait for the sources at most.
            line_s: Seconds to wait, after that, for a place in the line; then the question counts as taken.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._found or self._accepted or self.ended, search_s)
            self._changed.wait_for(lambda: self._accepted or self.ended, line_s)
            self._accepted = self._accepted or not self.ended

    def follow(self, cancelled: Callable[[], bool]) -> Iterator[Event]:
        """What is known so far and all that follows, as the service's own events.

        A caller that reads slowly gets several tokens as one; the last event is ``Finished`` or ``Failed``.

        Raises:
            CancelledError: ``cancelled()`` became true; the job goes on.
        """
        known, version = View(), -1
        while not known.ended:
            if cancelled():
                raise CancelledError
            with self._changed:
                if self._version == version and not self._changed.wait(POLL_S):
                    continue
                version, new = self._version, self.view()
            yield from _news(known, new)
            known = new

    def _note(self, event: Event) -> None:
        match event:
            case Retrieved(reply):
                self._found = reply
            case Waiting(place):
                self._accepted = True
                self._waiting, self._told_at = event, time.monotonic()
                self._state = "queued" if place else "running"
            case Token(text):
                self._accepted = True
                self._state, self._text = "running", self._text + text
            case Finished(reply):
                self._accepted = True
                self._state, self._reply, self._text = "done", reply, reply.answer.text
                self._found = None
            case Failed(error):
                self._state = "cancelled" if isinstance(error, CancelledError) else "failed"
                # Whoever looks at the job cannot mend a bug; to them it is just an internal error.
                self._error = error if isinstance(error, OtvetError) else OtvetError()


def _news(known: View, new: View) -> Iterator[Event]:
    if new.reply is not None:
        yield Finished(new.reply)
    elif new.error is not None:
        yield Failed(type(new.error)(**new.error.values))
    else:
        if new.found is not None and known.found is None:
            yield Retrieved(new.found)
        if new.place is not None and new.place != known.place:
            yield Waiting(new.place, new.estimate_s or 0.0)
        if len(new.text) > len(known.text):
            yield Token(new.text[len(known.text) :])
