"""Tables of PostgreSQL, MySQL and other databases, copied into SQLite files of the knowledge base.

Indexing itself never opens a connection: it reads the copy, so it works offline and twice alike.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from pipeline.errors import UnreadableFileError
from pipeline.ingest.reasons import reason
from pipeline.ingest.sources.declared import TableSource
from pipeline.ingest.sources.servers import reading

__all__ = ["MAX_CHARACTERS", "MAX_ROWS", "copy_table", "quoted"]

MAX_ROWS = 200_000
MAX_CHARACTERS = 40_000_000


def copy_table(table: TableSource, target: Path) -> None:
    """Copy the declared columns of a table into a new SQLite file.

    Equal rows give equal bytes.

    Args:
        table: Its ``database`` is an SQLAlchemy URL.
        target: The file to make; it must not exist.

    Raises:
        ExtraMissingError: SQLAlchemy or the database's driver is not installed.
        UnreadableFileError: The database cannot be read, or the table is too large.
    """
    with reading(table.database, table.name) as connection:
        import sqlalchemy as sa

        schema, _, name = table.table.rpartition(".")
        chosen = sa.table(name, *(sa.column(column) for column in table.columns), schema=schema or None)
        query = sa.select(chosen).limit(MAX_ROWS + 1).execution_options(stream_results=True)
        if table.id:
            query = query.order_by(chosen.c[table.id])
        rows = connection.execute(query)
        with closing(sqlite3.connect(target)) as copy, copy:
            _fill(copy, table, rows)


def _fill(copy: sqlite3.Connection, table: TableSource, rows: Iterable[Sequence[object]]) -> None:
    columns = ", ".join(quoted(column) for column in table.columns)
    copy.execute(f"CREATE TABLE {quoted(table.table)} ({columns})")
    marks = ", ".join("?" * len(table.columns))
    insert = f"INSERT INTO {quoted(table.table)} VALUES ({marks})"  # noqa: S608
    characters = 0
    for count, row in enumerate(rows, start=1):
        values = [_value(value) for value in row]
        characters += sum(len(value) for value in values if isinstance(value, str))
        if count > MAX_ROWS or characters > MAX_CHARACTERS:
            limit = MAX_CHARACTERS // 1_000_000
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


def quoted(name: str) -> str:
    """A name as SQLite takes it."""
    return '"' + name.replace('"', '""') + '"'
