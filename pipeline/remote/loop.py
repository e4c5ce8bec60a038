"""An event loop in a thread of its own, so that plain threads can drop a request in the middle of it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from pipeline.errors import CancelledError

__all__ = ["POLL_S", "BackgroundLoop", "wait_for"]

POLL_S = 0.02
"""How often a waiting thread looks whether it was cancelled."""

T = TypeVar("T")


class BackgroundLoop:
    """Runs coroutines; a future that is cancelled cancels its coroutine, which closes its connection."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="otvet-remote", daemon=True)
        self._thread.start()

    def start(self, coroutine: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Begin; may be called from any thread."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Cancel what runs, run ``last``, end the thread; harmless when it has ended."""
        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._end(last), self._loop)
            self._thread.join(5.0)

    async def _end(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await last()
        self._loop.stop()

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()


def wait_for(future: concurrent.futures.Future[T], cancelled: Callable[[], bool]) -> T:
    """What comes of it.

    Raises:
        CancelledError: ``cancelled()`` became true; the connection is closed.
    """
    while True:
        if cancelled():
            future.cancel()
            raise CancelledError
        done, _ = concurrent.futures.wait([future], POLL_S)
        if done:
            try:
                return future.result()
            except concurrent.futures.CancelledError:  # the client was closed meanwhile
                raise CancelledError from None
