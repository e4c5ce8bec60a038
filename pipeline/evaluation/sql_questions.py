"""Questions over databases with their right answers, and whether a result is the right one."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import QuestionsFileError
from pipeline.messages import Phrase
from pipeline.sql.runner import Value

__all__ = ["SqlQuestion", "load_sql_questions", "same_rows"]

_MOST_COLUMNS = 6
"""Columns of a result that are tried in every order."""


@dataclass(frozen=True, slots=True)
class SqlQuestion:
    """One line of a file of questions.

    Attributes:
        route: ``sql``, ``search`` or ``hybrid``.
        level: ``simple`` or ``join``, of questions that a statement answers.
        today: The day that relative periods count from, in ISO 8601.
        sql: The statement that gives the right rows.
        ordered: Their order counts.
        answer: The right rows.
        table: The table of texts that is searched.
        rows: Keys of the rows whose text holds the answer.
    """

    id: str
    route: str
    level: str
    database: str
    question: str
    today: str
    sql: str = ""
    ordered: bool = False
    answer: tuple[tuple[Value, ...], ...] = ()
    table: str = ""
    rows: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def load_sql_questions(path: Path) -> list[SqlQuestion]:
    """Read a file of one JSON object a line.

    Raises:
        QuestionsFileError: It is no such file.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        detail = {"detail": str(error)}
        raise QuestionsFileError(path=str(path), lines=[(0, Phrase("questions_unopened", detail))]) from error
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found += [_question(json.loads(line))] if line.strip() else []
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            wrong = Phrase("questions_json", {"detail": str(error)})
            raise QuestionsFileError(path=str(path), lines=[(number, wrong)]) from error
    return found


def _question(found: dict[str, Any]) -> SqlQuestion:
    return SqlQuestion(
        id=str(found["id"]),
        route=str(found["route"]),
        level=str(found.get("level", "")),
        database=str(found.get("database", "")),
        question=str(found["question"]),
        today=str(found.get("today", "")),
        sql=str(found.get("sql", "")),
        ordered=bool(found.get("ordered", False)),
        answer=tuple(tuple(row) for row in found.get("answer", ())),
        table=str(found.get("table", "")),
        rows=tuple(str(row) for row in found.get("rows", ())),
        tags=tuple(found.get("tags", ())),
    )


def same_rows(found: Sequence[Sequence[Value]], wanted: Sequence[Sequence[Value]], *, ordered: bool) -> bool:
    """Whether a result is the right one: the same rows, in any order unless that counts.

    Columns may stand in any order and there may be more of them than asked for: what something is grouped or
    ordered by, shown beside it, makes no answer wrong. Numbers are compared to four decimals. No rows, and
    one row of nothing (a sum over no rows), are the same.
    """
    rows, right = [_rounded(row) for row in found], [_rounded(row) for row in wanted]
    rows, right = _without_nothing(rows), _without_nothing(right)
    if len(rows) != len(right):
        return False
    if not right:
        return True
    width, needed = len(rows[0]), len(right[0])
    if width < needed or width > _MOST_COLUMNS:
        return False
    return any(
        _equal([tuple(row[place] for place in places) for row in rows], right, ordered=ordered)
        for places in itertools.permutations(range(width), needed)
    )


def _equal(rows: list[tuple[Value, ...]], right: list[tuple[Value, ...]], *, ordered: bool) -> bool:
    return rows == right if ordered else sorted(map(repr, rows)) == sorted(map(repr, right))


def _without_nothing(rows: list[tuple[Value, ...]]) -> list[tuple[Value, ...]]:
    return [] if rows and all(value is None for row in rows for value in row) else rows


def _rounded(row: Sequence[Value]) -> tuple[Value, ...]:
    return tuple(
        round(float(value), 4) if isinstance(value, int | float) and not isinstance(value, bool) else value
        for value in row
    )
