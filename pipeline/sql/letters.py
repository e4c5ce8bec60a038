"""Letters of all alphabets for SQLite, whose own ``lower`` and ``LIKE`` know Latin ones only."""

from __future__ import annotations

import re
import sqlite3
from functools import lru_cache

__all__ = ["know_letters"]

Cell = str | bytes | int | float | None

_MOST_WORK = 50_000_000  # letters of a text times those of a pattern: about a second at the worst


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
    if len(str(pattern)) * len(str(value)) > _MOST_WORK:
        raise ValueError("LIKE pattern too complex")
    return _compiled(str(pattern), str(escape or "")).fullmatch(str(value)) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str, escape: str) -> re.Pattern[str]:
    """The pattern as an expression that never tries a second place for what it has found.

    The first place where a piece between two ``%`` fits is as good as any other, so it is kept (``(?>…)``):
    trying them all would take years for ``%a%a%a%a%a%a%a%b``, and nothing can interrupt an expression.
    """
    pieces = [""]
    letters = iter(pattern)
    for letter in letters:
        if letter == escape:
            pieces[-1] += re.escape(next(letters, ""))
        elif letter == "%":
            pieces.append("")
        else:
            pieces[-1] += "." if letter == "_" else re.escape(letter)
    first, *rest = pieces
    middle = "".join(f"(?>.*?{piece})" for piece in rest[:-1] if piece)
    return re.compile(f"{first}{middle}.*{rest[-1]}" if rest else first, re.IGNORECASE | re.DOTALL)
