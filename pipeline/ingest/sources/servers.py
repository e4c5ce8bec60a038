"""A connection to a database of any SQLAlchemy URL that is there to read and nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from pipeline.errors import ExtraMissingError, UnreadableFileError
from pipeline.ingest.reasons import reason
from pipeline.messages import Phrase

if TYPE_CHECKING:
    import sqlalchemy as sa

__all__ = ["reading"]

_DRIVERS_OWN = (ValueError, TypeError, RuntimeError)
"""What SQLAlchemy and drivers raise, unwrapped, over a URL or a server they don't understand."""

_BROUGHT = frozenset({"psycopg", "pymysql"})  # drivers of the extra

_READ_ONLY = {
    "mysql": "SET SESSION TRANSACTION READ ONLY",
    "mariadb": "SET SESSION TRANSACTION READ ONLY",
    "oracle": "SET TRANSACTION READ ONLY",
}


@contextmanager
def reading(url: str, name: str) -> Iterator[sa.Connection]:
    """A connection whose transaction only reads, where the dialect has such a transaction.

    The driver reads passwords where it always does (``PGPASSWORD``,
    ``.pgpass``, ``.my.cnf``), so that none needs to stand in ``sources.toml``.

    Args:
        url: An SQLAlchemy URL; ``postgresql://`` is read with psycopg.
        name: What errors call it.

    Raises:
        ExtraMissingError: SQLAlchemy or a driver that comes with it is not installed.
        UnreadableFileError: Another driver is not installed, the database cannot be reached, or what is done
            with the connection fails.
    """
    try:
        import sqlalchemy as sa
    except ImportError as error:
        raise ExtraMissingError(package="sqlalchemy", extra="sql") from error
    try:
        engine = _engine(url)
    except ModuleNotFoundError as error:
        if error.name in _BROUGHT:
            raise ExtraMissingError(package=error.name, extra="sql") from error
        why = Phrase("driver_missing", {"driver": error.name or "?", "url": url.partition("://")[0]})
        raise UnreadableFileError(file=name, reason=why) from error
    except (sa.exc.SQLAlchemyError, *_DRIVERS_OWN) as error:
        raise UnreadableFileError(file=name, reason=reason("database", _first_line(error))) from error
    try:
        with engine.connect() as connection:
            yield _only_reading(connection)
    except (sa.exc.SQLAlchemyError, sqlite3.Error, *_DRIVERS_OWN) as error:
        raise UnreadableFileError(file=name, reason=reason("database", _first_line(error))) from error
    finally:
        engine.dispose()


def _engine(url: str) -> sa.Engine:
    import sqlalchemy as sa

    parsed = sa.make_url(url)
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername in ("sqlite", "sqlite+pysqlite") and parsed.database:
        # SQLite would make a file that is not there.
        path = f"file:{quote(str(Path(parsed.database).resolve()))}?mode=ro"
        return sa.create_engine(
            parsed, creator=lambda: sqlite3.connect(path, uri=True), poolclass=sa.pool.NullPool
        )
    return sa.create_engine(parsed, poolclass=sa.pool.NullPool)


def _only_reading(connection: sa.Connection) -> sa.Connection:
    import sqlalchemy as sa

    dialect = connection.dialect.name
    if dialect == "postgresql":
        return connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    if statement := _READ_ONLY.get(dialect):
        connection.execute(sa.text(statement))
    if dialect in ("mysql", "mariadb"):
        connection.rollback()  # it counts for the transactions to come
    return connection


def _first_line(error: Exception) -> str:
    """The driver's own words; SQLAlchemy adds the statement and its parameters below them."""
    cause = getattr(error, "orig", None) or error
    return (str(cause).strip().splitlines() or [type(error).__name__])[0]
