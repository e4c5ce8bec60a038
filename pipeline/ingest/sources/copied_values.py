"""Types and values of any database as a SQLite copy keeps them: numbers as numbers, times as ISO 8601."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from typing import Any

__all__ = ["plain_value", "sqlite_type"]

Plain = str | int | float | None


def sqlite_type(type_: Any) -> str:  # noqa: ANN401 - SQLAlchemy's types have no common parameter
    """The type of a column in the copy, in words that the catalog knows; empty for bytes.

    Args:
        type_: As SQLAlchemy's inspector gives it.
    """
    import sqlalchemy as sa
    from sqlalchemy.dialects import mysql, postgresql

    if isinstance(type_, sa.Numeric) and not isinstance(type_, sa.Float):
        known = type_.precision is not None and type_.scale is not None
        return f"NUMERIC({type_.precision}, {type_.scale})" if known else "NUMERIC"
    words: tuple[tuple[type[Any], str], ...] = (
        (sa.types._Binary, ""),
        (sa.Boolean, "BOOLEAN"),
        (mysql.BIT, "BOOLEAN"),
        (sa.Integer, "INTEGER"),
        (mysql.YEAR, "INTEGER"),
        (sa.Float, "REAL"),
        (sa.Interval, "REAL"),
        (postgresql.INTERVAL, "REAL"),
        (sa.DateTime, "DATETIME"),
        (sa.Date, "DATE"),
        (sa.Time, "TIME"),
    )
    return next((word for known_type, word in words if isinstance(type_, known_type)), "TEXT")


def plain_value(value: object, type_: str = "TEXT") -> Plain:
    """A value as SQLite keeps it in a column of a type that `sqlite_type` gives.

    A decimal is an integer where it is whole, else the nearest REAL; what is no number is none. Days and
    times are as SQLite's functions read them, of a time zone as the server shows them. Flags are 0 and 1,
    lengths of time are seconds.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float | Decimal):
        return _number(value)
    if isinstance(value, dt.date | dt.time | dt.timedelta):
        return _time(value, type_)
    if isinstance(value, bytes | bytearray | memoryview):
        data = bytes(value)
        return int.from_bytes(data, "big") if type_ == "BOOLEAN" else data.decode("utf-8", "replace")
    return (
        json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list) else str(value)
    )


def _number(value: float | Decimal) -> Plain:
    if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
        return None
    if isinstance(value, float):
        return value
    return int(value) if value == int(value) and -(2**63) <= value < 2**63 else float(value)


def _time(value: dt.date | dt.time | dt.timedelta, type_: str) -> Plain:
    if isinstance(value, dt.datetime):
        local = value.replace(tzinfo=None)
        return local.date().isoformat() if type_ == "DATE" else local.isoformat(sep=" ")
    if isinstance(value, dt.timedelta):  # MySQL's driver gives times of the day so
        is_of_a_day = type_ == "TIME" and dt.timedelta() <= value < dt.timedelta(days=1)
        return (dt.datetime.min + value).time().isoformat() if is_of_a_day else value.total_seconds()
    return value.replace(tzinfo=None).isoformat() if isinstance(value, dt.time) else value.isoformat()
