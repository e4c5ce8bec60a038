"""A checked statement, run: read-only, within a number of rows and a time."""

from __future__ import annotations

import datetime as dt
import math
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pipeline.errors import StatementCostlyError, StatementFailedError, StatementSlowError
from pipeline.sql.catalog import ColumnKind
from pipeline.sql.connect import Access, Readable, connect_postgres, connect_sqlite, first_line

if TYPE_CHECKING:
    import psycopg

__all__ = ["Limits", "ResultTable", "Value", "run_statement"]

Value = str | int | float | bool | None

_STEPS = 5_000  # of SQLite's machine, between two looks at the clock
_DATE = re.compile(
    r"\d{4}-(0[1-9]|1[0-2])"
    r"(-([0-2]\d|3[01])([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?)?"
)
_LONG = 120
_MAX_CHARACTERS = 2_000_000
_AT_ONCE = 25  # rows fetched from a server at once
_TEXTS = frozenset({18, 19, 25, 705, 1042, 1043})  # PostgreSQL's numbers of its types of text
_EXACT = 2**53  # JSON's numbers are exact up to here


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one statement.

    Attributes:
        rows: Of the result.
        seconds: Of the whole run.
        cost: Highest cost PostgreSQL may expect; 0: any.
    """

    rows: int = 1000
    seconds: float = 10.0
    cost: float = 5_000_000


@dataclass(frozen=True, slots=True)
class ResultTable:
    """What a statement gave; every value fits into JSON.

    Attributes:
        kinds: What each column holds, told by its values.
        truncated: There were more rows than are here.
        ms: How long it took.
    """

    columns: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    rows: tuple[tuple[Value, ...], ...]
    truncated: bool = False
    ms: float = 0.0


def run_statement(
    access: Access, statement: str, limits: Limits | None = None, readable: Readable | None = None
) -> ResultTable:
    """Run a statement that `pipeline.sql.guard` has let through.

    Args:
        access: Where the database is.
        statement: One SELECT.
        limits: Bounds of the run.
        readable: Columns that SQLite lets it read, by table, in small letters; all without. PostgreSQL has
            the rights of its user for that.

    Raises:
        DatabaseUnusableError: The database cannot be opened.
        StatementFailedError: It does not run; subclasses say that it took too long or would.
        ExtraMissingError: The database's driver is not installed.
    """
    limits = limits or Limits()
    started = time.monotonic()
    cut = False
    if access.dialect == "sqlite":
        columns, rows = _run_sqlite(access, statement, limits, readable)
    else:
        columns, rows, cut = _run_postgres(access, statement, limits)
    days = [_are_days([row[place] for row in rows]) for place in range(len(columns))]
    kept = tuple(
        tuple(
            _plain(value.date() if is_day and value else value)
            for value, is_day in zip(row, days, strict=True)
        )
        for row in rows[: limits.rows]
    )
    kept = kept[: _fitting(kept)]
    kinds = tuple(_kind([row[place] for row in kept]) for place in range(len(columns)))
    ms = (time.monotonic() - started) * 1000
    return ResultTable(tuple(columns), kinds, kept, cut or len(rows) > len(kept), round(ms, 1))


def _run_sqlite(
    access: Access, statement: str, limits: Limits, readable: Readable | None
) -> tuple[list[str], Sequence[Sequence[Any]]]:
    deadline = time.monotonic() + limits.seconds
    with closing(connect_sqlite(access, readable)) as connection:
        connection.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS)
        # A single step of the machine may be long (a huge sort); an interrupt from outside ends that too.
        timer = threading.Timer(limits.seconds + 0.2, connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            cursor = connection.execute(statement)
            rows = _fetched(cursor.fetchmany, limits.rows + 1, 1)
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
            if time.monotonic() > deadline:
                raise StatementSlowError(seconds=limits.seconds) from error
            raise StatementFailedError(reason=first_line(error)) from error
        finally:
            timer.cancel()
            timer.join()
        return [str(item[0]) for item in cursor.description or ()], rows


def _fetched(fetch: Callable[[int], Sequence[Sequence[Any]]], most: int, at_once: int) -> list[Sequence[Any]]:
    """Rows up to a number, or until they are more than a result holds: large cells fill no memory."""
    rows: list[Sequence[Any]] = []
    size = 0
    while len(rows) < most and (size <= _MAX_CHARACTERS or len(rows) < 2):
        some = fetch(min(at_once, most - len(rows)))
        if not some:
            break
        rows.extend(some)
        size += sum(len(value) for row in some for value in row if isinstance(value, str | bytes))
    return rows


def _run_postgres(
    access: Access, statement: str, limits: Limits
) -> tuple[list[str], Sequence[Sequence[Any]], bool]:
    import psycopg

    deadline = time.monotonic() + limits.seconds
    with closing(connect_postgres(access, limits.seconds)) as connection:

        def left(count: int) -> list[tuple[Any, ...]]:
            # The server counts the time of every fetch anew.
            rest_ms = int((deadline - time.monotonic()) * 1000)
            if rest_ms <= 0:
                raise StatementSlowError(seconds=limits.seconds)
            connection.execute(f"SET LOCAL statement_timeout = {rest_ms}".encode())
            return cursor.fetchmany(count)

        try:
            # The first snapshot pins the transaction: from here on it cannot be made a writing one.
            connection.execute("SELECT 1")
            if limits.cost:
                _check_cost(connection, statement, limits.cost)
            columns, bounded, longest = _bounded(connection, statement)
            # A cursor of the server takes one query, no other command, and sends rows as it is asked.
            with connection.cursor(name="otvet") as cursor:
                cursor.execute(bounded.encode())
                rows = _fetched(left, limits.rows + 1, _AT_ONCE)
        except psycopg.errors.QueryCanceled as error:
            raise StatementSlowError(seconds=limits.seconds) from error
        except (psycopg.Error, UnicodeError) as error:
            raise StatementFailedError(reason=first_line(error)) from error
    cut = longest > 0 and any(
        isinstance(value, str) and len(value) >= longest for row in rows for value in row
    )
    return columns, rows, cut


def _bounded(connection: psycopg.Connection[tuple[Any, ...]], statement: str) -> tuple[list[str], str, int]:
    """The columns of a statement, and the statement around it whose texts are no longer than a result.

    A cell may be of a gigabyte (``STRING_AGG`` over a join), which the server keeps, but not this process.
    """
    empty = f"SELECT * FROM ({statement}) AS q LIMIT 0"  # noqa: S608 - the guard's own statement
    described = connection.execute(empty.encode(), prepare=True)
    columns = described.description or ()
    texts = [column.type_code in _TEXTS for column in columns]
    longest = _MAX_CHARACTERS // max(sum(texts), 1)
    names = [f"c{place}" for place in range(len(columns))]
    parts = [
        f"LEFT({name}::text, {longest})" if is_text else name
        for name, is_text in zip(names, texts, strict=True)
    ]
    held = f"SELECT {', '.join(parts)} FROM ({statement}) AS q ({', '.join(names)})"  # noqa: S608 - as above
    return [column.name for column in columns], held if any(texts) else statement, longest


def _check_cost(connection: psycopg.Connection[tuple[Any, ...]], statement: str, limit: float) -> None:
    """Ask for the plan; ``prepare`` has the server take one statement only."""
    row = connection.execute(f"EXPLAIN (FORMAT JSON) {statement}".encode(), prepare=True).fetchone()
    cost = float(row[0][0]["Plan"]["Total Cost"]) if row else 0.0
    if cost > limit:
        raise StatementCostlyError(cost=round(cost), limit=round(limit))


def _fitting(rows: Sequence[Sequence[Value]]) -> int:
    """How many rows fit into a result: a thousand whole articles are no table."""
    characters = 0
    for count, row in enumerate(rows):
        characters += sum(len(value) for value in row if isinstance(value, str))
        if characters > _MAX_CHARACTERS:
            return max(count, 1)
    return len(rows)


def _are_days(values: Sequence[object]) -> bool:
    """True for times that all are midnight: PostgreSQL gives the months of dates so."""
    times = [value for value in values if value is not None]
    return bool(times) and all(
        isinstance(value, dt.datetime) and value.time() == dt.time() for value in times
    )


def _plain(value: object) -> Value:
    """A value as JSON keeps it: decimals as numbers, dates as ISO 8601, bytes and the rest as text."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float | Decimal):
        return _number(value)
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, bytes | memoryview):
        return bytes(value).decode("utf-8", "replace")
    return value.total_seconds() if isinstance(value, dt.timedelta) else str(value)


def _number(value: float | Decimal) -> Value:
    """A number that JSON keeps exactly; a larger one as text, and none for what is no number."""
    if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
        return None
    if isinstance(value, float):
        return value
    if abs(value) > _EXACT and value == int(value):
        return str(value)
    return int(value) if value == int(value) else float(value)


def _kind(values: Sequence[Value]) -> ColumnKind:
    known = [value for value in values if value is not None]
    if not known:
        return "other"
    if all(isinstance(value, bool) for value in known):
        return "flag"
    if all(isinstance(value, int | float) for value in known):
        return "number"
    texts = [value for value in known if isinstance(value, str)]
    if len(texts) == len(known) and all(_DATE.fullmatch(text) for text in texts):
        return "date"
    if len(texts) == len(known) and max(map(len, texts)) <= _LONG:
        return "category"
    return "text" if texts else "other"
