"""Server-sent events: sources at once, then the answer as it is written.

The service blocks while it waits in the queue and reads the prompt. A thread of its own drives it,
so that the connection carries a comment meanwhile: proxies keep it open, and a closed one is noticed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue

from pipeline.errors import CancelledError
from pipeline.types import Event, Failed, Finished, Reply, Retrieved, Token, Waiting
from pipeline.web import jsontext, problems

__all__ = ["HEARTBEAT_S", "EventStream"]

# Seconds of silence after which a comment is sent.
HEARTBEAT_S = 10.0
_HEARTBEAT = b": waiting\n\n"

Start = Callable[[Callable[[], bool]], Iterator[Event]]
"""Starts the events; takes the function that tells when nobody wants them any more."""


class EventStream(Iterator[bytes]):
    """The events of one request as bytes; closing it cancels the request.

    The constructor waits a while for the first event, so that an error known by then still becomes an
    HTTP status.

    Args:
        start: Starts the events.
        cancelled: True once the client has gone.
        render: A reply as JSON values.
        describe: An error as JSON values.

    Raises:
        Exception: Whatever the service raised before its first event.
    """

    def __init__(
        self,
        start: Start,
        cancelled: Callable[[], bool],
        render: Callable[[Reply], dict[str, object]],
        describe: Callable[[Exception], dict[str, object]],
    ) -> None:
        self._stop = threading.Event()
        self._cancelled = cancelled
        self._render = render
        self._describe = describe
        self._ended = False
        self._queue: SimpleQueue[Event] = SimpleQueue()
        threading.Thread(target=self._drive, args=(start,), name="ask-stream", daemon=True).start()
        self._next = self._waited()
        if isinstance(self._next, Failed):
            raise self._next.error

    def __next__(self) -> bytes:
        if self._ended or self._stop.is_set():
            raise StopIteration
        event, self._next = self._next or self._waited(), None
        if event is None:
            return _HEARTBEAT
        self._ended = isinstance(event, Finished | Failed)
        return self._write(event)

    def close(self) -> None:
        """Nobody reads any more."""
        self._stop.set()

    def _waited(self) -> Event | None:
        try:
            return self._queue.get(timeout=HEARTBEAT_S)
        except Empty:
            return None

    def _unwanted(self) -> bool:
        return self._stop.is_set() or self._cancelled()

    def _drive(self, start: Start) -> None:
        try:
            for event in start(self._unwanted):
                self._queue.put(event)
        except Exception as error:  # noqa: BLE001 - it goes to the client, and to the log where it is a bug
            self._queue.put(Failed(error))
        else:
            # After a last event nobody reads this one; without one the client must not wait for ever.
            self._queue.put(Failed(CancelledError()))

    def _write(self, event: Event) -> bytes:
        retry = ""
        match event:
            case Retrieved(reply):
                name, data = "sources", self._render(reply)
            case Waiting(place, estimate_s):
                name, data = "waiting", {"place": place, "estimate_s": round(estimate_s, 1)}
            case Token(text):
                name, data = "token", {"text": text}
            case Finished(reply):
                name, data = "done", self._render(reply)
            case Failed(error):
                name, data = "error", self._describe(error)
                seconds = problems.retry_after(error)
                # What Retry-After is to a status that can no longer be sent.
                retry = f"retry: {seconds * 1000}\n" if seconds else ""
        return f"event: {name}\n{retry}data: ".encode() + jsontext.dumps(data) + b"\n\n"
