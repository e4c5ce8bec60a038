"""The first steps of a question over databases: which database, what its words mean there, which route."""

from __future__ import annotations

from collections.abc import Generator

from pipeline.errors import OtvetError
from pipeline.sql.alike import known_as
from pipeline.sql.catalog import Catalog, Table
from pipeline.sql.cues import cues_of, light_terms, without_cues
from pipeline.sql.database import Database
from pipeline.sql.known import Value, Words
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
        else:
            found.append((-_concern(question, catalog, tools), base.name))
    if not found:
        assert failure is not None  # noqa: S101 - there are databases, and each gave one or the other
        raise failure
    best = tools.databases[min(found)[1]]
    return best, best.catalog()


def _concern(question: str, catalog: Catalog, tools: Tools) -> float:
    """How much a question has to do with a database: words it accounts for, then nearness in meaning."""
    words = words_of(question, catalog, tools.today())
    sure = [values for values in words.by_words().values() if any(value.sure for value in values)]
    said = frozenset(keyword_terms(question)) - function_terms()
    tables = sum(len(said & table_terms(table)) for table in catalog.tables.values())
    near = tools.schema(catalog).nearness(question)
    return len(sure) + 1.5 * min(tables, 2) - 0.5 * len(unexplained(question, catalog, words)) + 10.0 * near


def signals_of(turn: Turn) -> Signals:
    """What decides about the route."""
    texts = text_tables(turn.catalog)
    return Signals(
        cues=cues_of(turn.question),
        unexplained=len(unexplained(turn.question, turn.catalog, turn.words)),
        firm=max((_firm_conditions(turn, table) for table in texts), default=0),
        texts=bool(texts),
    )


def unexplained(question: str, catalog: Catalog, words: Words) -> list[str]:
    """Terms of a question that wording, schema and stored values leave over."""
    rest = question
    for said in words.all_said():
        rest = rest.replace(said, " ")
    known = frozenset(term for table in catalog.tables.values() for term in _terms(table))
    light = function_terms() | light_terms()
    left = [term for term in dict.fromkeys(keyword_terms(without_cues(rest))) if term not in light]
    return [term for term in left if not term.isdigit() and not known_as(term, known)]


def _terms(table: Table) -> frozenset[str]:
    return table_terms(table).union(*(column_terms(column) for column in table.columns))


def _firm_conditions(turn: Turn, table: Table) -> int:
    """Conditions on a table's rows that are plainly meant as such.

    Those are periods and amounts; names, which are written with a capital or in quotes; values whose column
    is named too («рубрика Наука»); and several values together. One common word that happens to be a category
    is a topic: the search is limited to it, but nothing has to be selected first.
    """
    near = [table, *(turn.catalog.tables[key.table] for key in table.foreign)]
    names = {one.name for one in near}
    kinds = {column.kind for column in table.columns}
    said = frozenset(keyword_terms(turn.question))
    values = [
        choices
        for choices in turn.words.by_words().values()
        if any(value.table in names and value.sure for value in choices)
    ]
    firm = sum(
        _is_name(choices[0].said, turn.question)
        or any(said & _column_words(turn.catalog, value) for value in choices if value.table in names)
        for choices in values
    )
    firm += len(turn.words.periods) if "date" in kinds else 0
    measured = any(said & column_terms(column) for column in table.columns if column.kind == "number")
    firm += (
        sum(bool(amount.operator) or measured for amount in turn.words.amounts) if "number" in kinds else 0
    )
    return firm if firm or len(values) < 2 else len(values)


def _is_name(said: str, question: str) -> bool:
    place = question.find(said)
    before = question[:place].rstrip()
    quoted = before.endswith(("«", '"', "“", "„"))
    return quoted or (bool(before) and before[-1] not in ".!?:…" and said[:1].isupper())


def _column_words(catalog: Catalog, value: Value) -> frozenset[str]:
    table = catalog.tables[value.table]
    column = table.column(value.column)
    return (column_terms(column) if column else frozenset()) - table_terms(table)


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
