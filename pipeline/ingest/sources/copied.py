"""The declared tables of a database on a server, copied into one SQLite file that questions are asked over.

Only allowed columns are read: what ``sources.toml`` hides never leaves the server. Types, keys and links
are those of the source, so that the catalog of the copy says what the catalog of the source would.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.databases import DatabaseSource, DatabaseTable
from pipeline.errors import UnreadableFileError
from pipeline.ingest.reasons import reason
from pipeline.ingest.sources.copied_values import plain_value, sqlite_type
from pipeline.ingest.sources.databases import MAX_CHARACTERS, MAX_ROWS, quoted
from pipeline.ingest.sources.servers import reading
from pipeline.messages import Phrase

if TYPE_CHECKING:
    import sqlalchemy as sa

__all__ = ["copy_database"]


@dataclass(frozen=True, slots=True)
class _Link:
    """A foreign key: columns, and the table and columns they lead to, as the source names them."""

    columns: tuple[str, ...]
    table: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    """A table as the source has it; ``columns`` are those that are copied, with their types in SQLite."""

    schema: str
    name: str
    target: str
    columns: Mapping[str, str]
    key: tuple[str, ...]
    links: tuple[_Link, ...]
    order: tuple[str, ...]


def copy_database(source: DatabaseSource, target: Path) -> None:
    """Copy the declared tables into a new SQLite file, all as they stand at one moment.

    Equal rows give equal bytes where tables have a key or an ``id``. The file bears `copy_mark`. It is on
    the disk, whole, when this returns.

    Args:
        source: As declared; its ``url`` is read.
        target: The file to make; it must not exist.

    Raises:
        ExtraMissingError: SQLAlchemy or the database's driver is not installed.
        UnreadableFileError: The database cannot be read, a declared table or column is not there, or a table
            is too large.
    """
    with reading(source.url, source.name) as connection:
        import sqlalchemy as sa

        inspector = sa.inspect(connection)
        default = inspector.default_schema_name or ""
        names = zip(source.table, (table.table for table in source.asked.table), strict=True)
        tables = [_described(inspector, source, declared, name) for declared, name in names]
        places = {_place(table, default): table for table in tables}
        with closing(sqlite3.connect(target)) as copy, copy:
            for table in tables:
                copy.execute(_ddl(table, default, places))
            for table in tables:
                _fill(copy, table, connection.execute(_query(table)), source.name)
            copy.execute(f"PRAGMA user_version = {source.copy_mark}")
    with target.open("rb+") as stream:
        os.fsync(stream.fileno())


def _described(
    inspector: sa.Inspector, source: DatabaseSource, declared: DatabaseTable, target: str
) -> _Table:
    import sqlalchemy as sa

    schema, _, name = declared.table.rpartition(".")
    try:
        found = inspector.get_columns(name, schema=schema or None)
    except sa.exc.NoSuchTableError as error:
        why = Phrase("table_not_there", {"table": declared.table})
        raise UnreadableFileError(file=source.name, reason=why) from error
    if missing := declared.missing(str(column["name"]) for column in found):
        why = Phrase("column_not_there", {"column": f"{declared.table}.{missing}"})
        raise UnreadableFileError(file=source.name, reason=why)
    columns: dict[str, str] = {}
    for column in found:
        own = str(column["name"])
        type_ = sqlite_type(column["type"])
        # Bytes are nothing to ask about; where the owner names them they are texts kept as bytes.
        if own.casefold() not in declared.unread and (type_ or own.casefold() in declared.named):
            columns[own] = type_ or "TEXT"
    key = tuple(
        _asked(lambda: inspector.get_pk_constraint(name, schema=schema or None)["constrained_columns"])
    )
    links = tuple(
        _Link(
            tuple(link["constrained_columns"]),
            _full(link["referred_schema"] or schema, link["referred_table"]),
            tuple(link["referred_columns"]),
        )
        for link in _asked(lambda: inspector.get_foreign_keys(name, schema=schema or None))
    )
    key = key if set(key) <= set(columns) else ()
    own_id = next((column for column in columns if column.casefold() == declared.id.casefold()), "")
    order = key or ((own_id,) if own_id else ())
    return _Table(schema, name, target, columns, key, links, order)


def _asked(ask: Callable[[], Sequence[Any] | None]) -> Sequence[Any]:
    """What a dialect says of keys; some know none."""
    try:
        return ask() or ()
    except NotImplementedError:
        return ()


def _full(schema: str, name: str) -> str:
    return f"{schema}.{name}".casefold()


def _place(table: _Table, default: str) -> str:
    return _full(table.schema or default, table.name)


def _ddl(table: _Table, default: str, places: Mapping[str, _Table]) -> str:
    parts = [f"{quoted(name)} {type_}" for name, type_ in table.columns.items()]
    if table.key:
        parts.append(f"PRIMARY KEY ({_listed(table.key)})")
    for link in table.links:
        schema, _, name = link.table.rpartition(".")
        other = places.get(_full(schema or default, name))
        # A link to what is not in the copy would name it all the same.
        if other and set(link.columns) <= set(table.columns) and set(link.targets) <= set(other.columns):
            leads = f"REFERENCES {quoted(other.target)} ({_listed(link.targets)})"
            parts.append(f"FOREIGN KEY ({_listed(link.columns)}) {leads}")
    return f"CREATE TABLE {quoted(table.target)} ({', '.join(parts)})"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names))


def _query(table: _Table) -> sa.Select[Any]:
    """The allowed columns as the driver gives them: SQLAlchemy's own types are strict about odd values."""
    import sqlalchemy as sa

    chosen = sa.table(
        table.name, *(sa.column(column) for column in table.columns), schema=table.schema or None
    )
    query = sa.select(chosen).order_by(*(chosen.c[name] for name in table.order)).limit(MAX_ROWS + 1)
    return query.execution_options(stream_results=True)


def _fill(copy: sqlite3.Connection, table: _Table, rows: Iterable[Sequence[object]], name: str) -> None:
    marks = ", ".join("?" * len(table.columns))
    insert = f"INSERT INTO {quoted(table.target)} VALUES ({marks})"  # noqa: S608 - names are quoted
    types = tuple(table.columns.values())
    characters = 0
    for count, row in enumerate(rows, start=1):
        values = [plain_value(value, type_) for value, type_ in zip(row, types, strict=True)]
        characters += sum(len(value) for value in values if isinstance(value, str))
        if count > MAX_ROWS or characters > MAX_CHARACTERS:
            raise UnreadableFileError(file=name, reason=reason("too_much_text", MAX_CHARACTERS // 1_000_000))
        copy.execute(insert, values)
