"""Connections to PostgreSQL: a pool, its address without secrets, and its errors in the product's words."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from threading import Lock
from typing import TYPE_CHECKING, Any

from pipeline.errors import ExtraMissingError, OtvetError, StoreNotWrittenError, StoreUnreachableError
from pipeline.messages import Phrase

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

    Connection = psycopg.Connection[dict[str, Any]]

__all__ = ["NAME", "Server"]

NAME = "postgres"
_APPLICATION = "otvet"
# A filter is met by walking on along the graph until enough rows meet it.
_SESSION = {"hnsw.iterative_scan": "strict_order", "hnsw.max_scan_tuples": "2000000000"}
_KEEPALIVES = {"keepalives": 1, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}


class Server:
    """A PostgreSQL server as one process talks to it. Safe for many threads; a fork opens its own.

    Args:
        url: ``postgresql://user:password@host:port/database``, or ``key=value`` pairs.
        pool: Connections at once.
        timeout_s: Wait for a connection, and for one statement of a search.
    """

    def __init__(self, url: str, *, pool: int = 8, timeout_s: float = 10.0) -> None:
        try:
            import psycopg
            import psycopg_pool
        except ImportError as error:
            raise ExtraMissingError(package=error.name or "psycopg", extra="postgres") from error
        self._psycopg = psycopg
        self._pools = psycopg_pool
        self._size = pool
        self._timeout_s = timeout_s
        self._lock = Lock()
        self._pool: ConnectionPool[Connection] | None = None
        self._secrets: tuple[str, ...] = ()
        self._options = self._parsed(url)

    @property
    def address(self) -> str:
        """Where it is, without user and password."""
        host = self._options.get("host") or self._options.get("hostaddr") or "localhost"
        port = self._options.get("port") or "5432"
        return f"{host}:{port}/{self._options.get('dbname') or ''}"

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection in a transaction that sees one state of the data, to its end, and changes nothing.

        Raises:
            StoreUnreachableError: The server does not answer, refuses the login, or is lost on the way.
        """
        with self._translated(), self._opened().connection(timeout=self._timeout_s) as connection:
            yield connection  # what it sees is fixed by its first SELECT

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection of its own for one long transaction; committed at the end, or undone.

        Raises:
            StoreUnreachableError: The server does not answer.
            StoreNotWrittenError: It refused; nothing is changed.
        """
        with self._translated(writes=True):
            connection = self._connect()
            try:
                with connection:
                    # Another indexer may be at work for long, and so may building an index.
                    connection.execute("SET LOCAL statement_timeout = 0")
                    yield connection
            finally:
                connection.close()

    def close(self) -> None:
        """Give back all connections."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def reason(self, error: BaseException) -> str:
        """What an error of the driver says, on one line, without the password."""
        said = " ".join(str(error).split()) or type(error).__name__
        said = said.partition(" Is the server running")[0].rstrip(".")  # our own hint says that
        for secret in self._secrets:
            said = said.replace(secret, "…")
        return said

    def _parsed(self, url: str) -> dict[str, Any]:
        from psycopg import conninfo

        try:
            options = dict(conninfo.conninfo_to_dict(url))
        except self._psycopg.Error:
            # What the driver says repeats the address, password and all.
            reason = Phrase("store_address")
            raise StoreUnreachableError(store=NAME, address="?", reason=reason) from None
        self._secrets = tuple(str(options[name]) for name in ("password", "sslpassword") if options.get(name))
        return _KEEPALIVES | {"application_name": _APPLICATION, "connect_timeout": self._wait()} | options

    def _wait(self) -> int:
        return max(2, round(self._timeout_s))  # libpq counts in whole seconds, 2 at least

    def _connect(self) -> Connection:
        from psycopg.rows import dict_row

        return self._psycopg.connect(**self._options, prepare_threshold=None, row_factory=dict_row)

    def _opened(self) -> ConnectionPool[Connection]:
        with self._lock:
            if self._pool is None or self._pool.closed:
                self._connect().close()  # says at once what is wrong, where a pool would try on
                self._pool = self._made()
            return self._pool

    def _made(self) -> ConnectionPool[Connection]:
        from psycopg.rows import dict_row

        pool: ConnectionPool[Connection] = self._pools.ConnectionPool(
            kwargs=self._options | {"prepare_threshold": None, "row_factory": dict_row},
            min_size=0,
            max_size=self._size,
            timeout=self._timeout_s,
            max_idle=300,
            reconnect_timeout=self._timeout_s,
            configure=self._configure,
            check=self._pools.ConnectionPool.check_connection,
            open=False,
        )
        pool.open()
        return pool

    def _configure(self, connection: Connection) -> None:
        """For all transactions of this connection: one state of the data, and pgvector's ways."""
        for name, value in (_SESSION | {"statement_timeout": str(round(self._timeout_s * 1000))}).items():
            connection.execute("SELECT set_config(%s, %s, false)", [name, value])
        connection.commit()
        connection.isolation_level = self._psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True

    @contextlib.contextmanager
    def _translated(self, *, writes: bool = False) -> Iterator[None]:
        try:
            yield
        except OtvetError:
            raise
        except self._pools.PoolTimeout as error:
            raise self._unreachable(self._why_none(error)) from error
        except (self._psycopg.OperationalError, self._psycopg.InterfaceError) as error:
            if writes and error.sqlstate and not error.sqlstate.startswith(("08", "57P", "28", "3D")):
                raise StoreNotWrittenError(store=NAME, reason=self.reason(error)) from error
            raise self._unreachable(error) from error
        except self._psycopg.Error as error:
            if isinstance(error, self._psycopg.errors.InsufficientPrivilege) and not writes:
                raise self._unreachable(error) from error
            if not writes:
                raise  # a mistake of this program
            raise StoreNotWrittenError(store=NAME, reason=self.reason(error)) from error

    def _unreachable(self, error: BaseException) -> StoreUnreachableError:
        return StoreUnreachableError(store=NAME, address=self.address, reason=self.reason(error))

    def _why_none(self, error: Exception) -> Exception:
        """What a pool that gives no connection does not say: ask the server."""
        try:
            self._connect().close()
        except self._psycopg.Error as told:
            return told
        return error
