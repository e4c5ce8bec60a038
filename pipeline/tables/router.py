"""The first steps of a question over databases: which database, what its words mean there, which route."""

from __future__ import annotations

import datetime as dt
from collections.abc import Generator

from pipeline.errors import OtvetError
from pipeline.sql.catalog import Catalog, Table
from pipeline.sql.cues import cues_of
from pipeline.sql.database import Database
from pipeline.sql.known import known_over
from pipeline.sql.names import column_terms, table_terms
from pipeline.sql.route import (
    DOUBTFUL,
    Signals,
    chances,
    decided,
    model_chances,
    route_messages,
)
from pipeline.sql.route_examples import ANSWERING
from pipeline.sql.schema_search import keyword
from pipeline.sql.understood import words_of
from pipeline.tables.rows import text_tables
from pipeline.tables.tools import Tools
from pipeline.tables.turn import Turn
from pipeline.text.function_words import function_terms
from pipeline.text.stems import keyword_terms
from pipeline.types import Event, Route, Waiting

__all__ = ["choose_database", "choose_route", "signals_of"]


def choose_database(question: str, tools: Tools, name: str = "") -> tuple[Database, Catalog]:
    """The database that a question is about: the named one, the only one, or whose words it says most.

    Raises:
        DatabaseUnusableError: None can be read, or the named one cannot.
    """
    if name:
        return tools.databases[name], tools.databases[name].catalog()
    if len(tools.databases) == 1:
        database = next(iter(tools.databases.values()))
        return database, database.catalog()
    found: list[tuple[float, str]] = []
    failure: OtvetError | None = None
    for base in tools.databases.values():
        try:
            catalog = base.catalog()
        except OtvetError as error:
            failure = error
            continue
        scores = keyword(tools.schema(catalog), question)
        named = len(words_of(question, catalog, dt.date.today()).sure_tables)
        found.append((-max(scores.values(), default=0.0) - 3.0 * named, base.name))
    if not found:
        assert failure is not None  # noqa: S101 - there are databases, and each gave one or the other
        raise failure
    best = tools.databases[min(found)[1]]
    return best, best.catalog()


def signals_of(turn: Turn) -> Signals:
    """What decides about the route."""
    catalog, words = turn.catalog, turn.words
    said = frozenset(keyword_terms(turn.question)) - function_terms()
    texts = text_tables(catalog)
    conditions = len(words.by_words()) + len(words.periods) + len(words.amounts)
    return Signals(
        cues=cues_of(turn.question),
        named=sum(bool(said & _terms(table)) for table in catalog.tables.values()),
        conditions=conditions,
        text_conditions=max((_conditions_on(turn, table) for table in texts), default=0),
        texts=bool(texts),
        about_texts=any(said & table_terms(table) for table in texts),
    )


def _terms(table: Table) -> frozenset[str]:
    return table_terms(table).union(*(column_terms(column) for column in table.columns))


def _conditions_on(turn: Turn, table: Table) -> int:
    near = [table, *(turn.catalog.tables[key.table] for key in table.foreign)]
    known = known_over(turn.words, near, turn.question, turn.catalog.dialect)
    return len(known.conditions) + (
        len(known.numbers) if any(c.kind == "number" for c in table.columns) else 0
    )


def choose_route(turn: Turn, tools: Tools) -> Generator[Event, None, None]:
    """Set the turn's route: the caller's own, what rules and examples are sure of, or what the model says."""
    if turn.request.route in ANSWERING:
        turn.route = turn.request.route
        turn.log.add("route", f"{turn.route}: asked for")
        return
    signals = signals_of(turn)
    found = chances(signals, tools.examples().votes(turn.question))
    route = decided(found)
    tokens = (0, 0)
    by = "rules"
    if route is None and turn.model is not None and turn.model.is_ready():
        scores: tuple[float, ...] = ()
        for said in turn.model.choose(
            route_messages(turn.question, signals, tuple(turn.catalog.tables)), ANSWERING
        ):
            if isinstance(said, Waiting):
                yield said
            else:
                scores = said
        found, tokens, by = model_chances(found, scores), turn.model.tokens, "model"
        route = decided(found, DOUBTFUL)
    turn.route = route or _fallback(found, turn)
    shares = ", ".join(f"{name} {found[name]:.2f}" for name in ANSWERING)
    turn.log.add("route", f"{turn.route}: {by}, {shares}", tokens)


def _fallback(found: dict[Route, float], turn: Turn) -> Route:
    """Where nothing is sure: ask back, if somebody is there to answer; without a model take the likeliest."""
    if turn.model is not None:
        return "clarify"
    return max(ANSWERING, key=lambda route: found[route])
