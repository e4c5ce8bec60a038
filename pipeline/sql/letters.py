"""Letters of all alphabets for SQLite, whose own ``lower`` and ``LIKE`` know Latin ones only."""

from __future__ import annotations

import re
import sqlite3
from functools import lru_cache

__all__ = ["know_letters"]

Cell = str | bytes | int | float | None


def know_letters(connection: sqlite3.Connection) -> None:
    """Give a connection ``lower``, ``upper`` and ``LIKE`` that know Cyrillic, as PostgreSQL's do.

    ``LIKE`` stays blind to the case of letters, as SQLite's is, for every alphabet.
    """
    connection.create_function("lower", 1, _lower, deterministic=True)
    connection.create_function("upper", 1, _upper, deterministic=True)
    connection.create_function("like", 2, _like, deterministic=True)
    connection.create_function("like", 3, _like, deterministic=True)


def _lower(value: Cell) -> Cell:
    return value.lower() if isinstance(value, str) else value


def _upper(value: Cell) -> Cell:
    return value.upper() if isinstance(value, str) else value


def _like(pattern: object, value: object, escape: object = None) -> bool | None:
    if pattern is None or value is None:
        return None
    return _compiled(str(pattern), str(escape or "")).fullmatch(str(value)) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str, escape: str) -> re.Pattern[str]:
    parts: list[str] = []
    letters = iter(pattern)
    for letter in letters:
        if letter == escape:
            parts.append(re.escape(next(letters, "")))
        elif letter == "%":
            if parts[-1:] != [".*"]:  # «%%» is one «%», and twice as slow
                parts.append(".*")
        else:
            parts.append("." if letter == "_" else re.escape(letter))
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL)
