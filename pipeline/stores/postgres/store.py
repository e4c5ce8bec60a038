"""The store ``postgres``."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterator

from pipeline.errors import IndexMissingError
from pipeline.index import Index
from pipeline.ports import Progress
from pipeline.settings import Settings
from pipeline.snapshot import StoreReport
from pipeline.stores.postgres.connect import NAME, Server
from pipeline.stores.postgres.reading import read_index
from pipeline.stores.postgres.sending import Target
from pipeline.stores.postgres.snapshot import EXACT_ROWS, PostgresSnapshot
from pipeline.stores.postgres.state import States
from pipeline.stores.postgres.writing import write

__all__ = ["PostgresStore", "open_store"]


def open_store(settings: Settings) -> PostgresStore:
    """The store of the section ``store``; nothing is connected to yet."""
    section = settings.store
    return PostgresStore(
        section.url.get_secret_value(),
        source=section.source,
        schema=section.base,
        pool=section.pool,
        timeout_s=section.timeout_s,
        links=section.hnsw_links,
        build=section.hnsw_build,
        search=section.hnsw_search,
    )


class PostgresStore:
    """A `pipeline.snapshot.Store` in PostgreSQL with pgvector.

    Args:
        url: ``postgresql://user:password@host:port/database``.
        source: Name of the knowledge base that this process writes; a base may have several.
        schema: The schema that holds the base.
        pool: Connections at once.
        timeout_s: Wait for the server, and for one statement of a search.
        links: See the setting ``store.hnsw_links``.
        build: See ``store.hnsw_build``.
        search: See ``store.hnsw_search``.
        exact_rows: See `pipeline.stores.postgres.snapshot.EXACT_ROWS`.
    """

    def __init__(
        self,
        url: str,
        *,
        source: str = "main",
        schema: str = "otvet",
        pool: int = 8,
        timeout_s: float = 10.0,
        links: int = 32,
        build: int = 200,
        search: int = 256,
        exact_rows: int = EXACT_ROWS,
    ) -> None:
        self._server = Server(url, pool=pool, timeout_s=timeout_s)
        self._target = Target(
            store=NAME, schema=schema, source=source, links=links, build=max(build, 2 * links)
        )
        self._states = States(schema, self._server)
        self._search = search
        self._exact_rows = exact_rows

    @property
    def name(self) -> str:
        """As the setting ``store.kind`` calls it."""
        return NAME

    @property
    def address(self) -> str:
        """Where it is, without user and password."""
        return self._server.address

    def write(self, index: Index, progress: Progress | None = None) -> StoreReport:
        """Make this source of the base hold an index, whole or not at all; see `pipeline.snapshot.Store`."""
        with self._server.writing() as connection:
            return write(connection, index, self._target, progress)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[PostgresSnapshot]:
        """The newest version, for one request; see `pipeline.snapshot.Store`."""
        with self._server.reading() as connection:
            version = self._states.current(connection)
            yield PostgresSnapshot(
                connection, version, self._target.schema, search=self._search, exact_rows=self._exact_rows
            )

    def read(self) -> Index:
        """The whole base in memory; see `pipeline.snapshot.Store`."""
        with self._server.reading() as connection:
            connection.execute("SET LOCAL statement_timeout = 0")
            return read_index(connection, self._states.current(connection), self._target.schema)

    def stamp(self) -> Hashable:
        """Id and version of the base; None while nothing is written."""
        try:
            with self._server.reading() as connection:
                return self._states.current(connection).stamp
        except IndexMissingError:
            return None

    def close(self) -> None:
        """Give back all connections."""
        self._server.close()
