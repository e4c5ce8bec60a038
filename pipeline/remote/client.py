"""Sends requests to one of several equal servers: bounded, retried while it makes sense, dropped at once.

httpx does the talking, in a thread of its own. Redirects are not followed and no proxy is taken from the
environment: what is sent goes where the setting says and nowhere else.
"""

from __future__ import annotations

import asyncio
import queue
import random
import ssl
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pipeline import __version__
from pipeline.errors import (
    OtvetError,
    RemoteBrokenError,
    RemoteRefusedError,
    RemoteUnreachableError,
)
from pipeline.messages import Phrase
from pipeline.remote.loop import POLL_S, BackgroundLoop, wait_for
from pipeline.remote.replicas import Replica, Replicas
from pipeline.remote.replies import NotJsonError, parsed, told
from pipeline.remote.retry import LONGEST_S, backoff_s, may_pass, retry_after_s
from pipeline.remote.server_events import EventTooLongError, event_data

if TYPE_CHECKING:
    import httpx

__all__ = ["Patience", "RemoteClient", "never"]

T = TypeVar("T")
Json = dict[str, Any]

_LARGEST_REPLY = 64 << 20
_LARGEST_PROBLEM = 16 << 10


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a server is waited for.

    Attributes:
        connect_s: Until it takes the connection.
        silence_s: Until the next bytes come, the first ones above all.
        whole_s: Until all of a reply is there.
        retries: How often more a request is sent that may succeed later.
    """

    connect_s: float = 5.0
    silence_s: float = 60.0
    whole_s: float = 600.0
    retries: int = 3


class _PassingError(Exception):
    """A failure that may pass; ``error`` is what a person would be told."""

    def __init__(self, error: OtvetError, after_s: float | None = None) -> None:
        super().__init__()
        self.error = error
        self.after_s = after_s


def never() -> bool:
    """A request that nobody cancels."""
    return False


class RemoteClient:
    """Safe to use from many threads; connects when first asked.

    Args:
        urls: Where the API of each replica begins; ``/v1`` is added to an address without a path.
        key: Sent as a bearer token; empty: none.
        patience: How long to wait.
        chance: Of the pauses between attempts.
    """

    def __init__(
        self,
        urls: Sequence[str],
        *,
        key: str = "",
        patience: Patience | None = None,
        chance: random.Random | None = None,
    ) -> None:
        self._replicas = Replicas([_based(url) for url in urls])
        self._key = key
        self._patience = patience or Patience()
        # Not for secrets: it spreads clients over time.
        self._chance = chance or random.Random()  # noqa: S311
        self._loop = BackgroundLoop()
        self._http: list[httpx.AsyncClient] = []
        # Whoever drops the client without closing it leaves no connection open either.
        self._end = weakref.finalize(self, _shut, self._loop, self._http)

    def call(
        self, path: str, body: Mapping[str, Any] | None = None, cancelled: Callable[[], bool] = never
    ) -> Json:
        """The JSON object that ``POST`` gives, or ``GET`` where there is no body.

        Args:
            path: Behind the API's beginning, as in ``/embeddings``; ``//tokenize`` is at the server's root.
            body: Sent as JSON.
            cancelled: Polled while waiting.

        Raises:
            CancelledError: ``cancelled()`` became true.
            RemoteUnreachableError: No replica answers.
            RemoteRefusedError: It answers with an error that no other try will help.
            RemoteBrokenError: What it answers is not what it should be.
        """
        return wait_for(self._loop.start(self._whole(path, body)), cancelled)

    def stream(
        self, path: str, body: Mapping[str, Any], cancelled: Callable[[], bool] = never
    ) -> Generator[Json, None, None]:
        """The JSON objects of a stream as they come; ends early, without error, once ``cancelled()``.

        The connection is closed at once when the caller stops iterating. Tried again only while nothing
        has come. Raises as ``call``.
        """
        items: queue.SimpleQueue[Json | OtvetError | None] = queue.SimpleQueue()
        future = self._loop.start(self._pour(path, body, items.put))
        try:
            while not cancelled():
                try:
                    item = items.get(timeout=POLL_S)
                except queue.Empty:
                    if future.cancelled():  # the client was closed
                        return
                    continue
                if item is None:
                    return
                if isinstance(item, OtvetError):
                    raise item
                yield item
        finally:
            future.cancel()

    def status(self) -> list[dict[str, object]]:
        """Every replica, as JSON values."""
        return self._replicas.status()

    def close(self) -> None:
        """Drop what is under way and close all connections; harmless a second time."""
        self._end()

    async def _whole(self, path: str, body: Mapping[str, Any] | None) -> Json:
        async def send(url: str) -> Json:
            async with self._answer(url, path, body) as response:
                return parsed(await _read(response, _LARGEST_REPLY))

        return await self._tried(send)

    async def _pour(
        self, path: str, body: Mapping[str, Any], put: Callable[[Json | OtvetError | None], None]
    ) -> None:
        begun = False

        async def send(url: str) -> None:
            nonlocal begun
            async with self._answer(url, path, body) as response:
                async for data in event_data(response.aiter_raw()):
                    if data == "[DONE]":
                        return
                    item = parsed(data)
                    begun = True
                    put(item)

        try:
            await self._tried(send, lambda: not begun)
        except OtvetError as error:
            put(error)
        else:
            put(None)

    async def _tried(
        self, send: Callable[[str], Awaitable[T]], again: Callable[[], bool] = lambda: True
    ) -> T:
        """Send to one replica after another until one answers."""
        tried: list[str] = []
        while True:
            replica = self._replicas.take(tried)
            try:
                return await self._sent(replica, send)
            except _PassingError as passing:
                tried.append(replica.url)
                if len(tried) > self._patience.retries or not again():
                    raise passing.error from passing
                await asyncio.sleep(self._pause(tried, passing))

    async def _sent(self, replica: Replica, send: Callable[[str], Awaitable[T]]) -> T:
        import httpx

        try:
            async with asyncio.timeout(self._patience.whole_s):
                result = await send(replica.url)
        except _PassingError as passing:
            self._replicas.failed(replica, passing.after_s)
            raise
        except (httpx.TransportError, TimeoutError) as error:
            self._replicas.failed(replica)
            raise _PassingError(RemoteUnreachableError(url=replica.url, reason=_cause(error))) from error
        except (NotJsonError, EventTooLongError, httpx.DecodingError) as error:
            self._replicas.dropped(replica)
            raise RemoteBrokenError(url=replica.url, reason=Phrase("remote_not_json")) from error
        except BaseException:  # refused, or dropped in the middle: the replica is not to blame
            self._replicas.dropped(replica)
            raise
        self._replicas.served(replica)
        return result

    def _pause(self, tried: Sequence[str], passing: _PassingError) -> float:
        if len(set(tried)) < len(self._replicas):
            return 0.0  # another one is asked at once
        round_of = len(tried) // len(self._replicas) - 1
        return max(backoff_s(round_of, self._chance), min(passing.after_s or 0.0, LONGEST_S))

    @asynccontextmanager
    async def _answer(
        self, url: str, path: str, body: Mapping[str, Any] | None
    ) -> AsyncIterator[httpx.Response]:
        """The reply of one server once its head is there, if that says that all is well."""
        address = _rooted(url) + path[1:] if path.startswith("//") else url + path
        method = "GET" if body is None else "POST"
        async with self._connections().stream(method, address, json=body) as response:
            if not response.is_success:
                raise await self._problem(url, response)
            yield response

    async def _problem(self, url: str, response: httpx.Response) -> Exception:
        body = await _read(response, _LARGEST_PROBLEM, cut=True)
        reason: str | Phrase = told(body, self._key) or response.reason_phrase
        if response.is_redirect:
            reason = Phrase("remote_moved", {"to": response.headers.get("location", "?")[:200]})
        error = RemoteRefusedError(url=url, http=response.status_code, reason=reason)
        if may_pass(response.status_code):
            return _PassingError(error, retry_after_s(response.headers.get("retry-after")))
        return error

    def _connections(self) -> httpx.AsyncClient:
        if not self._http:
            import httpx

            patience = self._patience
            headers = {"User-Agent": f"otvet/{__version__}", "Accept-Encoding": "identity"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            client = httpx.AsyncClient(
                headers=headers,
                timeout=httpx.Timeout(patience.silence_s, connect=patience.connect_s),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
                # The machine's own list of authorities: a company's server is signed by the company's.
                verify=ssl.create_default_context(),
                trust_env=False,
                follow_redirects=False,
            )
            self._http.append(client)
        return self._http[0]


def _shut(loop: BackgroundLoop, clients: Sequence[httpx.AsyncClient]) -> None:
    async def hang_up() -> None:
        for client in clients:
            await client.aclose()

    loop.close(hang_up)


async def _read(response: httpx.Response, most: int, *, cut: bool = False) -> bytes:
    """The body, or its beginning with ``cut``.

    Raises:
        EventTooLongError: It is longer than ``most`` bytes.
    """
    parts, size = list[bytes](), 0
    async for part in response.aiter_raw():
        parts.append(part)
        size += len(part)
        if size > most:
            if cut:
                break
            raise EventTooLongError
    return b"".join(parts)[:most]


def _based(url: str) -> str:
    url = url.rstrip("/")
    return url if urlsplit(url).path else f"{url}/v1"


def _rooted(url: str) -> str:
    """The server's own address, where llama.cpp and vLLM have what is not OpenAI's."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _cause(error: BaseException) -> str | Phrase:
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return Phrase("remote_silent")
    return str(error) or type(error).__name__
