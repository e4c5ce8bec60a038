"""Connections that can read and nothing else: SQLite opened read-only, PostgreSQL in read-only transactions.

The statement is checked as well (`pipeline.sql.guard`), but nothing here relies on that.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pipeline.databases import DatabaseSource
from pipeline.errors import DatabaseUnusableError, ExtraMissingError
from pipeline.messages import Phrase
from pipeline.sql.catalog import Dialect
from pipeline.sql.letters import know_letters

if TYPE_CHECKING:
    import psycopg

__all__ = ["Access", "Readable", "access_to", "connect_postgres", "connect_sqlite", "first_line"]

_SQLITE_URL = re.compile(r"sqlite(\+pysqlite)?:///(?P<path>.+)")
_POSTGRES_URL = re.compile(r"postgres(ql)?(\+psycopg)?://")
_MAGIC = b"SQLite format 3\0"
Readable = Mapping[str, Collection[str]]

_HEAD_BYTES = 100
_MAX_CELL = 4 * 1024 * 1024
_MAX_HEAP = 256 * 1024 * 1024  # of all statements on SQLite together
_CONNECT_S = 10
_HARMLESS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_NEVER = frozenset({"load_extension", "randomblob", "zeroblob", "fts3_tokenizer", "readfile", "writefile"})


@dataclass(frozen=True, slots=True)
class Access:
    """Where a database is.

    Attributes:
        name: What ``sources.toml`` calls it.
        place: A file for SQLite, a libpq URL for PostgreSQL.
    """

    name: str
    dialect: Dialect
    place: str


def access_to(source: DatabaseSource, knowledge_base: Path) -> Access:
    """Where a declared database is; nothing is opened.

    Raises:
        DatabaseUnusableError: It is of a kind that cannot be asked, or leaves the knowledge base.
    """
    if source.file:
        path = knowledge_base / source.inside
        if any(part.is_symlink() for part in (path, *path.parents[: len(Path(source.inside).parts) - 1])):
            raise DatabaseUnusableError(name=source.name, reason=Phrase("link_not_followed"))
        return Access(source.name, "sqlite", str(path))
    if found := _SQLITE_URL.fullmatch(source.url):
        return Access(source.name, "sqlite", found["path"])
    if found := _POSTGRES_URL.match(source.url):
        return Access(source.name, "postgres", "postgresql://" + source.url[found.end() :])
    kind = source.url.partition(":")[0]
    raise DatabaseUnusableError(name=source.name, reason=f"{kind}: sqlite, postgresql")


def connect_sqlite(access: Access, readable: Readable | None = None) -> sqlite3.Connection:
    """A connection to a SQLite file that can change nothing, attach nothing and load nothing.

    Args:
        access: Where the file is.
        readable: Columns it may read, by table, in small letters; all where none are given.

    Raises:
        DatabaseUnusableError: There is no such file, or it is no SQLite database.
    """
    path = Path(access.place)
    try:
        name = f"file:{quote(str(path.resolve()))}?{_mode(access.name, path)}"
        connection = sqlite3.connect(name, uri=True, check_same_thread=False, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise DatabaseUnusableError(name=access.name, reason=first_line(error)) from error
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA temp_store = MEMORY")
    # What is sorted lies in memory, and a product of tables would fill it within the time of a statement.
    connection.execute(f"PRAGMA hard_heap_limit = {_MAX_HEAP}")
    know_letters(connection)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_CELL)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000)
    try:
        views = _views(connection) if readable is not None else frozenset()
    except sqlite3.Error as error:
        connection.close()
        raise DatabaseUnusableError(name=access.name, reason=first_line(error)) from error
    connection.set_authorizer(partial(_reading_only, readable, views))
    return connection


def _views(connection: sqlite3.Connection) -> frozenset[str]:
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'")
    return frozenset(str(name).lower() for (name,) in names)


def _mode(name: str, path: Path) -> str:
    with path.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    if not head.startswith(_MAGIC):
        raise DatabaseUnusableError(name=name, reason=Phrase("sqlite_not", {"file": path.name}))
    # A base with a write-ahead log that nobody has open is whole as it lies; read otherwise, SQLite would
    # have to make files beside it.
    at_rest = head[18:19] == b"\2" and not path.with_name(f"{path.name}-wal").exists()
    return "mode=ro&immutable=1" if at_rest else "mode=ro"


def _reading_only(  # noqa: PLR0917 - SQLite calls it so
    readable: Readable | None,
    views: Collection[str],
    action: int,
    first: str | None,
    second: str | None,
    _: str | None,
    around: str | None,
) -> int:
    """SQLite asks this of every part of a statement while it prepares it."""
    if action == sqlite3.SQLITE_READ and readable is not None:
        # The name around may also be that of a WITH, which has no more rights than the statement.
        view = around if around and around.lower() in views else None
        # What a view reads is the view's matter; «» stands for a table of which no column is read.
        columns = readable.get((view or first or "").lower())
        allowed = columns is not None and (view is not None or (second or "").lower() in {*columns, ""})
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY
    if action in _HARMLESS:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in _NEVER:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def connect_postgres(access: Access, seconds: float) -> psycopg.Connection[tuple[Any, ...]]:
    """A PostgreSQL session whose transactions read only, each statement within a time.

    Raises:
        ExtraMissingError: psycopg is not installed.
        DatabaseUnusableError: The server cannot be reached or does not let us in.
    """
    try:
        import psycopg
    except ImportError as error:
        raise ExtraMissingError(package="psycopg", extra="sql") from error
    options = {
        "default_transaction_read_only": "on",
        "statement_timeout": str(int(seconds * 1000)),
        "lock_timeout": "2000",
        "idle_in_transaction_session_timeout": str(int(seconds * 1000) + 30_000),
        "standard_conforming_strings": "on",
        "jit": "off",
    }
    words = " ".join(f"-c {name}={value}" for name, value in options.items())
    try:
        connection = psycopg.connect(
            access.place, options=words, connect_timeout=_CONNECT_S, application_name="otvet"
        )
    except (psycopg.Error, ValueError, UnicodeError) as error:
        raise DatabaseUnusableError(name=access.name, reason=first_line(error)) from error
    connection.read_only = True
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    return connection


def first_line(error: BaseException, words: Iterable[str] = ()) -> str:
    """The database's own words without the statement below them, and without secrets."""
    line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    for word in words:
        line = line.replace(word, "…")
    return line[:300]
