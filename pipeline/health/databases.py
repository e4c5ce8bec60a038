"""The databases that questions may be asked about: whether they open, only read, and their examples hold."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.errors import OtvetError, StatementRefusedError
from pipeline.health.finding import Finding, Say
from pipeline.sql.database import Database

__all__ = ["check_databases"]


def check_databases(databases: Iterable[Database], say: Say) -> list[Finding]:
    """A finding a database: what it holds, whether its user may write, examples that the guard refuses."""
    return [_check(database, say) for database in databases]


def _check(database: Database, say: Say) -> Finding:
    check = say("database", name=database.name)
    try:
        catalog = database.catalog()
    except OtvetError as error:
        return Finding(check, "problem", error.message(say.language), error.hint(say.language))
    rows = sum(table.rows for table in catalog.tables.values())
    detail = say("database_holds", tables=len(catalog.tables), rows=rows)
    if day := database.copied_on:
        detail = f"{detail}; {say('database_copy', day=day)}"
    if database.may_change:
        tables = ", ".join(database.may_change)
        return Finding(check, "warning", say("database_may_change", tables=tables), say("database_reader"))
    if wrong := [f"{question}: {why}" for question, why in _wrong_examples(database, say)]:
        return Finding(check, "warning", say("database_examples"), say("sources_next"), tuple(wrong))
    return Finding(check, "ok", detail)


def _wrong_examples(database: Database, say: Say) -> list[tuple[str, str]]:
    wrong = []
    for question, statement in database.catalog().examples:
        try:
            database.check(statement)
        except StatementRefusedError as error:
            wrong.append((question, error.message(say.language)))
    return wrong
