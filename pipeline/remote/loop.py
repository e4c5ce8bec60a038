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
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="otvet-remote", daemon=True)
        self._thread.start()

    def start(self, coroutine: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Begin; may be called from any thread.

        Raises:
            CancelledError: The loop was closed.
        """
        if self._closing:
            coroutine.close()
            raise CancelledError
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Cancel what runs, run ``last``, end the thread; harmless when it has ended."""
        if self._closing:
            return
        self._closing = True
        asyncio.run_coroutine_threadsafe(self._end(last), self._loop)
        if threading.current_thread() is not self._thread:  # as the garbage collector may be
            self._thread.join(5.0)

    async def _end(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await last()
        await self._loop.shutdown_asyncgens()
        await asyncio.sleep(0)  # what was closed above gives its sockets back now
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
