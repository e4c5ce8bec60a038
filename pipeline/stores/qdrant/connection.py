"""Talking to Qdrant: a server by HTTP, or the client's own engine over a local folder.

The local engine (``QdrantClient(path=…)``) is for one process: it holds a lock on its folder, opens no
network connection, and is not made for several threads, so all of a process share one and take turns.
A server is asked again where it was only busy or not there yet.
"""

from __future__ import annotations

import atexit
import json
import math
import sqlite3
import threading
import time
from collections import Counter
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pipeline.errors import ExtraMissingError, StoreUnreachableError
from pipeline.messages import Phrase

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_client.http.exceptions import UnexpectedResponse

__all__ = ["Connection", "MissingCollectionError", "RefusedError", "Settled", "connect", "connect_local"]

_ATTEMPTS = 3
_PAUSE_S = 0.2
_BUSY = frozenset({429, 502, 503, 504})


class RefusedError(StoreUnreachableError):
    """The server answered, but would not do it. Values: as `StoreUnreachableError`."""


class MissingCollectionError(Exception):
    """Nothing has been written under this name."""


@dataclass
class Settled:
    """What a process knows of its local engine, where nobody else reads or writes.

    To be read and changed within `Connection.turns` only.

    Attributes:
        writers: How many are at work.
        versions: Collection -> the current versions, and whether it holds points of no others. There a search
            need not ask each point for its version, which the local engine does in Python.
        readers: The versions that snapshots are open of, each as often as it is.
    """

    writers: int = 0
    versions: dict[str, tuple[object, bool]] = field(default_factory=dict)
    readers: Counter[tuple[tuple[str, int], ...]] = field(default_factory=Counter)

    def oldest(self, source: str, current: int) -> int:
        """The lowest generation of a source that a snapshot is open of."""
        open_now = [key for key, count in self.readers.items() if count > 0]
        return min([current, *(number for key in open_now for name, number in key if name == source)])


class Connection:
    """A client, and what its errors mean.

    Args:
        client: Of the library.
        address: For messages: without a key.
        turns: Taken for every call.
        settled: Of a local engine.
    """

    def __init__(
        self,
        client: QdrantClient,
        address: str,
        turns: AbstractContextManager[Any],
        settled: Settled | None = None,
    ) -> None:
        self._client = client
        self.address = address
        self.turns = turns
        self.settled = settled

    def created(self, collection: str) -> None:
        """A collection has just been made."""

    @property
    def local(self) -> bool:
        """It works on a folder and not with a server."""
        return self.settled is not None

    def call(self, operation: str, **values: Any) -> Any:  # noqa: ANN401 - as many types as operations
        """Carry out an operation of the client.

        Raises:
            MissingCollectionError: Its collection does not exist.
            StoreUnreachableError: There was no answer, or a refusal.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with self.turns:
                    return getattr(self._client, operation)(**values)
            except Exception as error:  # the client raises errors of five libraries
                trouble = self._trouble(error)
                if trouble is None:
                    raise
                if attempt == _ATTEMPTS or not _passes(error):
                    raise trouble from error
            time.sleep(_PAUSE_S * attempt)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Give back the connection."""
        with self.turns:
            self._client.close()

    def _trouble(self, error: Exception) -> Exception | None:
        """What an error of the client stands for; None for one that is a mistake of ours."""
        from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        if isinstance(error, UnexpectedResponse) and error.status_code == 404:
            return MissingCollectionError()
        if self.local and isinstance(error, ValueError) and "not found" in str(error):
            return MissingCollectionError()
        if isinstance(error, UnexpectedResponse):
            said = f"HTTP {error.status_code} {_said(error)}".strip()
            return RefusedError(store="qdrant", address=self.address, reason=said)
        reason: str | Phrase = ""
        if isinstance(error, ResponseHandlingException):
            reason = str(error.source) or type(error.source).__name__
        elif isinstance(error, ResourceExhaustedResponse):
            reason = "HTTP 429"
        elif isinstance(error, json.JSONDecodeError | AssertionError) and not self.local:
            reason = Phrase("store_no_qdrant")  # a page of a proxy, for example
        elif isinstance(error, OSError):
            reason = str(error)
        return StoreUnreachableError(store="qdrant", address=self.address, reason=reason) if reason else None


_ADDRESSES = "http://host:6333, https://KEY@host:6333"


def connect(url: str, timeout_s: float, pool: int) -> Connection:
    """A server; nothing is sent yet. A key stands before the host: ``https://KEY@host:6333``.

    Raises:
        ExtraMissingError: The package ``qdrant-client`` is not installed.
        StoreUnreachableError: That is no address of such a server.
    """
    client_class = _client_class()
    try:
        parts, known = urlsplit(url), urlsplit(url).port
    except ValueError:
        parts, known = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        # What stands there may hold a secret.
        raise StoreUnreachableError(store="qdrant", address="?", reason=_ADDRESSES)
    key = parts.password or parts.username
    host = parts.hostname or ""
    netloc = f"[{host}]" if ":" in host else host
    address = parts._replace(netloc=netloc if known is None else f"{netloc}:{known}").geturl()
    client = client_class(
        url=address,
        # As a header of its own: given as a key it would be warned of on a connection without TLS.
        headers={"api-key": key} if key else None,
        timeout=max(1, math.ceil(timeout_s)),
        pool_size=pool,
        check_compatibility=False,  # asks the server in a thread of its own
    )
    return Connection(client, address, nullcontext())


class _Folders:
    """The local engines of this process, by folder, with the number of their users."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.open: dict[Path, tuple[QdrantClient, threading.RLock, Settled, list[object]]] = {}


_folders = _Folders()


class _Shared(Connection):
    """One of several users of a local engine; the last one to leave closes it."""

    def __init__(
        self,
        folder: Path,
        client: QdrantClient,
        turns: threading.RLock,
        settled: Settled,
        users: list[object],
    ) -> None:
        super().__init__(client, str(folder), turns, settled)
        self._folder, self._users = folder, users
        users.append(self)

    def created(self, collection: str) -> None:
        """Have its file written ahead: the engine commits each point, which is five times as fast then."""
        file = self._folder / "collection" / collection / "storage.sqlite"
        if file.is_file():  # as the library has it today
            with closing(sqlite3.connect(file)) as base:
                base.execute("PRAGMA journal_mode = WAL")

    def close(self) -> None:
        """Leave."""
        with _folders.lock:
            if self in self._users:
                self._users.remove(self)
                if not self._users:
                    super().close()
                    atexit.unregister(self._client.close)
                    _folders.open.pop(self._folder, None)


def connect_local(folder: Path) -> Connection:
    """The engine over a folder, which is made if it doesn't exist.

    Raises:
        ExtraMissingError: The package ``qdrant-client`` is not installed.
        StoreUnreachableError: Another process has it open, or it cannot be read.
    """
    client_class = _client_class()
    folder = folder.resolve()
    with _folders.lock:
        if folder not in _folders.open:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                client = client_class(path=str(folder), force_disable_check_same_thread=True)
            except RuntimeError as error:
                raise StoreUnreachableError(
                    store="qdrant", address=str(folder), reason=Phrase("store_folder_taken")
                ) from error
            except (OSError, ValueError, KeyError) as error:
                raise StoreUnreachableError(store="qdrant", address=str(folder), reason=str(error)) from error
            atexit.register(client.close)  # the library does it too late, when it cannot any more
            _folders.open[folder] = (client, threading.RLock(), Settled(), [])
        return _Shared(folder, *_folders.open[folder])


def _client_class() -> type[QdrantClient]:
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise ExtraMissingError(package="qdrant-client", extra="qdrant") from error
    return QdrantClient


def _said(error: UnexpectedResponse) -> str:
    """The server's own words, or the start of whatever it sent."""
    try:
        return str(error.structured()["status"]["error"])
    except (ValueError, KeyError, TypeError):
        return bytes(error.content or b"")[:200].decode("utf-8", "replace")


def _passes(error: Exception) -> bool:
    """True for what may be over in a moment."""
    import httpx

    source = getattr(error, "source", None)
    status = getattr(error, "status_code", None)
    exhausted = type(error).__name__ == "ResourceExhaustedResponse"
    return exhausted or status in _BUSY or isinstance(source, httpx.ConnectError | httpx.RemoteProtocolError)
