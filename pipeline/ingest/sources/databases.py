"""Tables of PostgreSQL, MySQL and other databases, copied into SQLite files of the knowledge base.

Indexing itself never opens a connection: it reads the copy, so it works offline and twice alike.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from pipeline.errors import ExtraMissingError, UnreadableFileError
from pipeline.ingest.reasons import reason
from pipeline.ingest.sources.declared import TableSource

__all__ = ["copy_table"]

_MAX_ROWS = 200_000
_MAX_CHARACTERS = 40_000_000
_DRIVERS_OWN = (ValueError, TypeError, RuntimeError)
"""What SQLAlchemy and drivers raise, unwrapped, over a URL or a server they don't understand."""


def copy_table(table: TableSource, target: Path) -> None:
    """Copy the declared columns of a table into a new SQLite file.

    Equal rows give equal bytes. The driver reads passwords where it always does (``PGPASSWORD``,
    ``.pgpass``, ``.my.cnf``), so that none needs to stand in ``sources.toml``.

    Args:
        table: Its ``database`` is an SQLAlchemy URL.
        target: The file to make; it must not exist.

    Raises:
        ExtraMissingError: SQLAlchemy or the database's driver is not installed.
        UnreadableFileError: The database cannot be read, or the table is too large.
    """
    try:
        import sqlalchemy as sa
    except ImportError as error:
        raise ExtraMissingError(package="sqlalchemy", extra="sql") from error
    schema, _, name = table.table.rpartition(".")
    chosen = sa.table(name, *(sa.column(column) for column in table.columns), schema=schema or None)
    query = sa.select(chosen).limit(_MAX_ROWS + 1)
    if table.id:
        query = query.order_by(chosen.c[table.id])
    try:
        engine = sa.create_engine(table.database)
    except ModuleNotFoundError as error:
        raise ExtraMissingError(package=error.name or "driver", extra="sql") from error
    except (sa.exc.SQLAlchemyError, *_DRIVERS_OWN) as error:
        raise UnreadableFileError(file=table.name, reason=reason("database", _first_line(error))) from error
    try:
        with engine.connect().execution_options(stream_results=True) as connection:
            rows = connection.execute(query)
            with closing(sqlite3.connect(target)) as copy, copy:
                _fill(copy, table, rows)
    except (sa.exc.SQLAlchemyError, sqlite3.Error, *_DRIVERS_OWN) as error:
        raise UnreadableFileError(file=table.name, reason=reason("database", _first_line(error))) from error
    finally:
        engine.dispose()


def _fill(copy: sqlite3.Connection, table: TableSource, rows: Iterable[Sequence[object]]) -> None:
    columns = ", ".join(_quoted(column) for column in table.columns)
    copy.execute(f"CREATE TABLE {_quoted(table.table)} ({columns})")
    marks = ", ".join("?" * len(table.columns))
    insert = f"INSERT INTO {_quoted(table.table)} VALUES ({marks})"  # noqa: S608
    characters = 0
    for count, row in enumerate(rows, start=1):
        values = [_value(value) for value in row]
        characters += sum(len(value) for value in values if isinstance(value, str))
        if count > _MAX_ROWS or characters > _MAX_CHARACTERS:
            limit = _MAX_CHARACTERS // 1_000_000
            raise UnreadableFileError(file=table.name, reason=reason("too_much_text", limit))
        copy.execute(insert, values)


def _value(value: object) -> str | int | float | None:
    """A value as SQLite keeps it; dates, decimals and the like as text."""
    if value is None or isinstance(value, str | float):
        return value
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else str(value)
    if isinstance(value, bytes | memoryview):
        return bytes(value).decode("utf-8", "replace")
    return str(value)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _first_line(error: Exception) -> str:
    """The driver's own words; SQLAlchemy adds the statement and its parameters below them."""
    cause = getattr(error, "orig", None) or error
    return (str(cause).strip().splitlines() or [type(error).__name__])[0]
