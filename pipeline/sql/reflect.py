"""The catalog of a database, read from the database itself and from what ``sources.toml`` says of it.

Everything here is bounded: values and rows of large tables are looked at in part, and within a time.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pipeline.databases import DatabaseSource, DatabaseTable
from pipeline.errors import DatabaseUnusableError, ExtraMissingError
from pipeline.messages import Phrase
from pipeline.sql.catalog import Catalog, Column, ColumnKind, ForeignKey, Table
from pipeline.sql.connect import Access, connect_postgres, connect_sqlite, first_line

if TYPE_CHECKING:
    import sqlalchemy as sa

__all__ = ["reflect"]

MAX_VALUES = 200
"""Different values that a category has at most."""

MAX_NAMES = 50
"""So many different values are a category even where each stands once: brands, departments."""

MAX_VALUE_CHARACTERS = 60
_SAMPLE_ROWS = 20_000
_LONG_TEXT = 200  # characters on average, from which a text is one to search in
_SECONDS = 20.0
_STEPS = 10_000  # of SQLite's machine, between two looks at the clock
_MANY = 200_000  # rows that PostgreSQL's own estimate is good enough for

_DATE_TYPE = re.compile(r"date|time", re.I)
_FLAG_TYPE = re.compile(r"bool", re.I)
_NUMBER_TYPE = re.compile(r"int|serial|num|dec|real|float|double|money", re.I)
_TEXT_TYPE = re.compile(r"char|text|clob|string|enum|citext|uuid", re.I)
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")


def reflect(source: DatabaseSource, access: Access, seconds: float = _SECONDS) -> Catalog:
    """What a declared database holds: its allowed tables without their hidden columns.

    Args:
        source: As declared.
        access: Where it is.
        seconds: Time for looking at values; what is not reached has no values.

    Raises:
        DatabaseUnusableError: It cannot be read, or a declared table or column is not there.
        ExtraMissingError: SQLAlchemy or a driver is not installed.
    """
    with _opened(access, seconds) as connection:
        looker = _Looker(connection, access, time.monotonic() + seconds)
        tables = [looker.table(source, declared) for declared in source.table]
    allowed = {table.name: table for table in tables}
    kept = {name: _joined(table, allowed) for name, table in allowed.items()}
    examples = tuple((example.question, example.sql) for example in source.example)
    catalog = Catalog(source.name, access.dialect, kept, source.note, examples)
    return replace(catalog, fingerprint=_fingerprint(catalog))


@contextmanager
def _opened(access: Access, seconds: float) -> Iterator[sa.Connection]:
    try:
        import sqlalchemy as sa
    except ImportError as error:
        raise ExtraMissingError(package="sqlalchemy", extra="sql") from error
    if access.dialect == "sqlite":
        engine = sa.create_engine(
            "sqlite://", creator=lambda: _looked_into(access, seconds), poolclass=sa.NullPool
        )
    else:
        engine = sa.create_engine(
            "postgresql+psycopg://", creator=lambda: connect_postgres(access, seconds), poolclass=sa.NullPool
        )
    try:
        with engine.connect() as connection:
            yield connection
    except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
        cause = getattr(error, "orig", None) or error
        raise DatabaseUnusableError(name=access.name, reason=first_line(cause)) from error
    finally:
        engine.dispose()


def _looked_into(access: Access, seconds: float) -> sqlite3.Connection:
    """The inspector asks with PRAGMA, which the connections of statements don't let through."""
    connection = connect_sqlite(access)
    connection.set_authorizer(None)
    deadline = time.monotonic() + seconds
    connection.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS)
    return connection


def _inspector(connection: sa.Connection) -> sa.Inspector:
    import sqlalchemy as sa

    return sa.inspect(connection)


@dataclass(slots=True)
class _Looker:
    """Looks into the tables of one database until its time is over."""

    connection: sa.Connection
    access: Access
    deadline: float

    def table(self, source: DatabaseSource, declared: DatabaseTable) -> Table:
        import sqlalchemy as sa

        inspector = _inspector(self.connection)
        schema, _, name = declared.table.rpartition(".")
        try:
            described = inspector.get_columns(name, schema=schema or None)
            key = inspector.get_pk_constraint(name, schema=schema or None)["constrained_columns"]
            links = inspector.get_foreign_keys(name, schema=schema or None)
        except sa.exc.NoSuchTableError as error:
            reason = Phrase("table_not_there", {"table": declared.table})
            raise DatabaseUnusableError(name=source.name, reason=reason) from error
        hidden = {column.casefold() for column in declared.hidden}
        types = {str(column["name"]): str(column["type"]) for column in described}
        _check_names(source, declared, types)
        order = list(types)
        foreign = tuple(
            ForeignKey(link["constrained_columns"][0], link["referred_table"], link["referred_columns"][0])
            for link in sorted(links, key=lambda link: order.index(link["constrained_columns"][0]))
            if len(link["constrained_columns"]) == 1 and link["referred_columns"]
        )
        ids = {*key, declared.id, *(link.column for link in foreign)}
        rows = self._count(declared.table)
        columns = [
            self._column(declared, column, kind, rows, is_id=column in ids)
            for column, kind in types.items()
            if column.casefold() not in hidden
        ]
        own = declared.id or (key[0] if len(key) == 1 else "")
        return Table(declared.table, tuple(columns), own, foreign, declared.note, declared.synonyms, rows)

    def _column(self, declared: DatabaseTable, name: str, type_: str, rows: int, *, is_id: bool) -> Column:
        noted = {key.casefold(): value for key, value in declared.columns.items()}.get(name.casefold())
        note, synonyms = (noted.note, noted.synonyms) if noted else ("", ())
        if is_id:
            return Column(name, type_, "id", note, synonyms)
        kind = _kind_of(type_)
        values: tuple[str, ...] = ()
        if name == declared.text:
            kind = "text"
        elif kind == "text":
            kind, values = self._words(declared.table, name, rows)
        return Column(name, type_, kind, note, synonyms, values)

    def _words(self, table: str, column: str, rows: int) -> tuple[ColumnKind, tuple[str, ...]]:
        """Whether a column of texts holds a category, dates, long texts or something else."""
        sample = f"SELECT {_quoted(column)} AS v FROM {_full(table)} LIMIT {_SAMPLE_ROWS}"  # noqa: S608
        # Names stand in the user's own file and in the database; they are quoted.
        found = self._rows(
            f"SELECT v, length(v) FROM (SELECT DISTINCT CAST(v AS TEXT) AS v FROM ({sample}) AS s "  # noqa: S608
            f"WHERE v IS NOT NULL) AS d LIMIT {MAX_VALUES + 1}"
        )
        if not found:
            return "other", ()
        if all(_ISO_DATE.fullmatch(str(value)) for value, _ in found):
            return "date", ()
        longest = max(int(length) for _, length in found)
        few = len(found) <= MAX_NAMES or (len(found) <= MAX_VALUES and 2 * len(found) <= rows)
        if few and longest <= MAX_VALUE_CHARACTERS:
            return "category", tuple(sorted(str(value) for value, _ in found))
        mean = sum(int(length) for _, length in found) / len(found)
        return ("text" if mean >= _LONG_TEXT else "other"), ()

    def _count(self, table: str) -> int:
        """Rows of a table; of a large one on a server as it estimates them, 0 where time is over."""
        if self.access.dialect == "postgres":
            name = _full(table).replace("'", "''")
            asked = f"SELECT CAST(reltuples AS bigint) FROM pg_class WHERE oid = to_regclass('{name}')"  # noqa: S608
            estimate = self._rows(asked)
            if estimate and int(estimate[0][0]) > _MANY:
                return int(estimate[0][0])
        counted = self._rows(f"SELECT count(*) FROM {_full(table)}")  # noqa: S608
        return int(counted[0][0]) if counted else 0

    def _rows(self, statement: str) -> Sequence[Any]:
        """What a statement gives; nothing where the time for looking is over."""
        import sqlalchemy as sa

        if time.monotonic() > self.deadline:
            return ()
        try:
            return self.connection.execute(sa.text(statement.replace(":", "\\:"))).fetchall()
        except sa.exc.OperationalError:
            if time.monotonic() < self.deadline:
                raise
            self.connection.rollback()
            return ()


def _check_names(source: DatabaseSource, declared: DatabaseTable, types: Mapping[str, str]) -> None:
    """A hidden column that is misspelt would not be hidden; so a name that is not there is an error."""
    if name := declared.missing(types):
        why = Phrase("column_not_there", {"column": f"{declared.table}.{name}"})
        raise DatabaseUnusableError(name=source.name, reason=why)


def _kind_of(type_: str) -> ColumnKind:
    if _FLAG_TYPE.search(type_):
        return "flag"
    if _DATE_TYPE.search(type_):
        return "date"
    if _NUMBER_TYPE.search(type_):
        return "number"
    return "text" if not type_ or type_ == "NULL" or _TEXT_TYPE.search(type_) else "other"


def _joined(table: Table, allowed: Iterable[str]) -> Table:
    """A table with its links to allowed tables over columns that may be read."""
    names = {name.rpartition(".")[2].casefold(): name for name in allowed}
    links = tuple(
        replace(link, table=names[link.table.casefold()])
        for link in table.foreign
        if link.table.casefold() in names and table.column(link.column) is not None
    )
    return replace(table, foreign=links)


def _fingerprint(catalog: Catalog) -> str:
    return hashlib.sha256(repr(catalog).encode()).hexdigest()[:16]


def _full(table: str) -> str:
    return ".".join(_quoted(part) for part in table.split("."))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
