"""The store ``qdrant``: one class for a folder of this machine and for a server or cluster."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import IndexMissingError
from pipeline.index import Index
from pipeline.lazy import Lazy
from pipeline.ports import Progress
from pipeline.settings import Settings
from pipeline.snapshot import StoreReport
from pipeline.stores.qdrant.connection import Connection, connect, connect_local
from pipeline.stores.qdrant.heads import Head, Heads
from pipeline.stores.qdrant.layout import Layout
from pipeline.stores.qdrant.reading import read_index, read_version
from pipeline.stores.qdrant.snapshot import QdrantSnapshot, Version
from pipeline.stores.qdrant.token_bytes import FileTokens, PayloadTokens, TokenPlace
from pipeline.stores.qdrant.writing import Writer

__all__ = ["QdrantStore", "open_store"]

_SEARCH = 256


class QdrantStore:
    """A `pipeline.snapshot.Store` in Qdrant.

    Args:
        url: Of a server, a key before the host (``https://KEY@host:6333``); empty for a local folder.
        folder: Of the local engine.
        source: Which indexer's share `write` replaces; searches see all shares.
        layout: Names and shape of the collections.
        search: HNSW's care in searching.
        timeout_s: How long to wait for a server.
        pool: Connections to it at once.

    Nothing is opened before the first use, which raises `ExtraMissingError` where ``qdrant-client`` is not
    installed, and `StoreUnreachableError` where another process has the folder open.
    """

    name = "qdrant"

    def __init__(
        self,
        url: str = "",
        folder: Path | None = None,
        *,
        source: str = "main",
        layout: Layout | None = None,
        search: int = _SEARCH,
        timeout_s: float = 10.0,
        pool: int = 8,
    ) -> None:
        self._layout = layout or Layout()
        self._source = source
        self._search = search
        self._lock = threading.Lock()
        self._known: Version | None = None
        self._opened = Lazy(lambda: _open(url, folder, timeout_s, pool))

    def write(self, index: Index, progress: Progress | None = None) -> StoreReport:
        """Make the share of this source hold an index; see `pipeline.snapshot.Store`."""
        connection, tokens = self._opened.get()
        return Writer(connection, self._layout, tokens, self._source).write(index, progress)

    @contextmanager
    def snapshot(self) -> Iterator[QdrantSnapshot]:
        """The newest version of all sources; see `pipeline.snapshot.Store`."""
        connection, tokens = self._opened.get()
        settled = connection.settled
        with connection.turns:
            heads = self._heads()
            if settled is not None:
                settled.readers[_key(heads)] += 1
        try:
            yield QdrantSnapshot(connection, self._version(heads), tokens, self._search)
        finally:
            if settled is not None:
                with connection.turns:
                    settled.readers[_key(heads)] -= 1
                    settled.readers += Counter()  # forgets what is at 0

    def read(self) -> Index:
        """All of it; see `pipeline.snapshot.Store`. Token vectors are fetched when they are looked at."""
        connection, tokens = self._opened.get()
        return read_index(connection, tokens, self._version(self._heads()))

    def stamp(self) -> Hashable:
        """See `pipeline.snapshot.Store`."""
        return _key(self._current())

    def close(self) -> None:
        """See `pipeline.snapshot.Store`."""
        opened = self._opened.peek()
        if opened is not None:
            connection, tokens = opened
            tokens.close()
            connection.close()

    def _heads(self) -> tuple[Head, ...]:
        """There is at least one."""
        heads = self._current()
        if not heads:
            raise IndexMissingError(path=self._opened.get()[0].address)
        return heads

    def _current(self) -> tuple[Head, ...]:
        return Heads(self._opened.get()[0], self._layout).current()

    def _version(self, heads: tuple[Head, ...]) -> Version:
        """What is known of these versions; all but their numbers is read once."""
        known = self._known
        if known is None or known.key != _key(heads):
            with self._lock:
                known = self._known
                if known is None or known.key != _key(heads):
                    known = self._known = read_version(self._opened.get()[0], heads)
        return known


def open_store(settings: Settings) -> QdrantStore:
    """The store that the settings name; nothing is connected to or loaded yet."""
    store = settings.store
    return QdrantStore(
        store.url.get_secret_value(),
        settings.embeddings / "qdrant",
        source=store.source,
        layout=Layout(store.base, store.shards, store.replicas, store.hnsw_links, store.hnsw_build),
        search=store.hnsw_search,
        timeout_s=store.timeout_s,
        pool=store.pool,
    )


def _open(url: str, folder: Path | None, timeout_s: float, pool: int) -> tuple[Connection, TokenPlace]:
    if url or folder is None:
        connection = connect(url, timeout_s, pool)
        return connection, PayloadTokens(connection)
    connection = connect_local(folder)
    return connection, FileTokens(folder)


def _key(heads: tuple[Head, ...]) -> tuple[tuple[str, int], ...]:
    return tuple((head.source, head.generation) for head in heads)
