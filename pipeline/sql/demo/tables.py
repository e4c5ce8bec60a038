"""Tables of a demo database as values, and how SQLite and PostgreSQL make them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.sql.catalog import Dialect

if TYPE_CHECKING:
    import psycopg

__all__ = ["Cell", "MadeColumn", "MadeTable", "columns", "ddl", "fill_postgres", "write_sqlite"]

Cell = str | int | float | bool | None

_TYPES: dict[Dialect, dict[str, str]] = {
    "sqlite": {"id": "INTEGER", "int": "INTEGER", "money": "NUMERIC(12, 2)", "text": "TEXT", "date": "DATE"},
    "postgres": {
        "id": "INTEGER",
        "int": "INTEGER",
        "money": "NUMERIC(12, 2)",
        "text": "TEXT",
        "date": "DATE",
    },
}


@dataclass(frozen=True, slots=True)
class MadeColumn:
    """A column; ``target`` is the table whose id it holds."""

    name: str
    type: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class MadeTable:
    """A table with its rows; the first column is its key."""

    name: str
    columns: tuple[MadeColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]


def columns(words: str) -> tuple[MadeColumn, ...]:
    """Columns written as ``id:id name:text brand_id:id>brands``."""
    made = []
    for word in words.split():
        name, _, rest = word.partition(":")
        type_, _, target = rest.partition(">")
        made.append(MadeColumn(name, "flag" if type_ == "flag" else type_, target))
    return tuple(made)


def ddl(table: MadeTable, dialect: Dialect) -> str:
    """The statement that makes a table."""
    types = {**_TYPES[dialect], "flag": "BOOLEAN"}
    parts = []
    for place, column in enumerate(table.columns):
        key = " PRIMARY KEY" if place == 0 else ""
        link = f" REFERENCES {column.target} (id)" if column.target else ""
        parts.append(f"{column.name} {types[column.type]}{key}{link}")
    return f"CREATE TABLE {table.name} ({', '.join(parts)})"


def write_sqlite(tables: Sequence[MadeTable], path: Path) -> None:
    """Make a SQLite file; equal tables give equal rows.

    Raises:
        OSError: It cannot be written.
    """
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in tables:
            connection.execute(ddl(table, "sqlite"))
            marks = ", ".join("?" * len(table.columns))
            connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", table.rows)  # noqa: S608


def fill_postgres(tables: Sequence[MadeTable], connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Make the tables in the current schema of a PostgreSQL database."""
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(ddl(table, "postgres").encode())
            flags = [place for place, column in enumerate(table.columns) if column.type == "flag"]
            marks = ", ".join(["%s"] * len(table.columns))
            rows = [
                tuple(bool(cell) if place in flags else cell for place, cell in enumerate(row))
                for row in table.rows
            ]
            cursor.executemany(f"INSERT INTO {table.name} VALUES ({marks})".encode(), rows)  # noqa: S608
    connection.commit()
