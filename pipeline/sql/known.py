"""From the words of a question to conditions over the columns of given tables."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.sql.alike import known_as
from pipeline.sql.catalog import Catalog, Column, Dialect, Table
from pipeline.sql.cues import cues_of, light_terms
from pipeline.sql.names import called_terms, column_terms, table_terms
from pipeline.sql.paths import neighbours
from pipeline.sql.select_grammar import Condition, Known, column_name, table_name
from pipeline.text.function_words import function_terms
from pipeline.text.stems import keyword_terms

__all__ = ["Amount", "Period", "Value", "Words", "known_over", "literal", "unclear_value"]


@dataclass(frozen=True, slots=True)
class Value:
    """A stored value that a question names.

    Attributes:
        said: The words of the question.
        sure: They can hardly mean anything else.
    """

    said: str
    table: str
    column: str
    value: str
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Period:
    """Days from ``start`` to before ``end``, in ISO 8601; either may be empty."""

    said: str
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that rows are compared with; an empty operator leaves open how."""

    said: str
    operator: str
    number: str


@dataclass(frozen=True, slots=True)
class Words:
    """What a question's words mean, whatever tables come to be shown.

    Attributes:
        names: Words that look like names and stand for no stored value.
    """

    values: tuple[Value, ...] = ()
    periods: tuple[Period, ...] = ()
    amounts: tuple[Amount, ...] = ()
    names: tuple[str, ...] = ()

    def by_words(self) -> Mapping[str, tuple[Value, ...]]:
        """Values by the words that name them: several where the words fit several columns."""
        found: dict[str, tuple[Value, ...]] = {}
        for value in self.values:
            found[value.said] = (*found.get(value.said, ()), value)
        return found

    def all_said(self) -> tuple[str, ...]:
        """The words of the question that stand for something, longest first."""
        found = {value.said for value in self.values}
        found |= {period.said for period in self.periods} | {amount.said for amount in self.amounts}
        return tuple(sorted(found, key=lambda said: (-len(said), said)))

    def said(self) -> str:
        """All of it in few words, for the list of steps."""
        parts = [f"{value.said} = {value.table}.{value.column}: {value.value}" for value in self.values]
        parts += [f"{period.said}: {period.start}…{period.end}" for period in self.periods]
        parts += [f"{amount.said}: {amount.operator} {amount.number}" for amount in self.amounts]
        return "; ".join(parts)

    @property
    def sure_tables(self) -> tuple[str, ...]:
        """Tables of values that only one table has."""
        alone = [values for values in self.by_words().values() if len({value.table for value in values}) == 1]
        return tuple(dict.fromkeys(value.table for values in alone for value in values if value.sure))


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def known_over(words: Words, tables: Sequence[Table], question: str, dialect: Dialect) -> Known:
    """The conditions that the words come to over the columns of some tables.

    Args:
        words: Of the question.
        tables: In the order of their nearness to the question.
        question: Tells which of several columns is meant.
        dialect: How dates are compared.
    """
    said = frozenset(keyword_terms(question)) - function_terms()
    conditions = [*_of_values(words, tables, said), *_of_periods(words.periods, tables, said)]
    conditions += _of_flags(tables, said)
    conditions += _of_missing(tables, frozenset(keyword_terms(cues_of(question).missing)[:3]))
    numbers = tuple((amount.operator, amount.number) for amount in words.amounts)
    cues = cues_of(question)
    figures = cues.count or cues.total or cues.average
    grouped = (figures and (cues.group or cues.most)) or cues.often
    # «Больше всего отгрузок»: the rows of a table are counted for each of something else.
    tallied = set(keyword_terms(cues.tally)[:2])
    grouped = grouped or any(known_as(term, table_terms(table)) for term in tallied for table in tables)
    return Known(tuple(conditions), numbers, words.names, grouped, _counted(cues.counted, tables))


def unclear_value(words: Words, catalog: Catalog, question: str) -> tuple[Value, ...]:
    """What the first words may stand for of which only the caller can say it; empty where all is clear.

    «В Казани» may be the town of customers, of suppliers and of warehouses. The question itself tells as a
    rule, by naming one of the tables or columns; and a name that two tables share which lead to each other
    is one thing.
    """
    said = frozenset(keyword_terms(question)) - function_terms()
    near = neighbours(catalog)
    for values in words.by_words().values():
        sure = [value for value in values if value.sure]
        named = any(_nearness(catalog.tables[value.table], value.column, said) for value in sure)
        linked = any(
            first.table == second.table or first.table in near[second.table]
            for first, second in itertools.combinations(sure, 2)
        )
        if len(sure) > 1 and not named and not linked:
            return tuple(sure)
    return ()


def _of_values(words: Words, tables: Sequence[Table], said: frozenset[str]) -> list[Condition]:
    found: list[Condition] = []
    shown = {table.name: table for table in tables}
    order = {name: place for place, name in enumerate(shown)}
    by_column: dict[tuple[str, ...], list[str]] = {}
    sure: dict[tuple[str, ...], bool] = {}
    wording: dict[tuple[str, ...], str] = {}
    for text, values in words.by_words().items():
        fitting = [value for value in values if value.table in shown]
        # The sort is stable: of equals the one whose table is nearest to the question comes first.
        fitting.sort(key=lambda value: order[value.table])
        fitting.sort(key=lambda value: -_nearness(shown[value.table], value.column, said))
        places = tuple(column_name(value.table, value.column) for value in fitting)
        if not places:
            continue
        # Two values of one column are alternatives: «из Москвы и Казани» is either, never both.
        by_column.setdefault(places, [])
        by_column[places] += [value.value for value in fitting[:1]]
        sure[places] = sure.get(places, True) and all(value.sure for value in fitting)
        wording[places] = f"{wording.get(places, '')} {text}".strip()
        for value, place in zip(fitting, places, strict=True):
            if value.value != fitting[0].value:
                by_column[places] = [fitting[0].value]
                found.append(Condition(text, (f"{place} = {literal(value.value)}",), sure=False))
    for places, stored in by_column.items():
        choices = tuple(_equal(place, stored) for place in places)
        found.insert(0, Condition(wording[places], choices, sure[places]))
    return found


def _equal(place: str, values: Sequence[str]) -> str:
    different = list(dict.fromkeys(values))
    if len(different) == 1:
        return f"{place} = {literal(different[0])}"
    return f"{place} IN ({', '.join(literal(value) for value in different)})"


def _of_periods(periods: Sequence[Period], tables: Sequence[Table], said: frozenset[str]) -> list[Condition]:
    dates = [(table, column) for table in tables for column in table.columns if column.kind == "date"]
    dates.sort(key=lambda pair: -_nearness(pair[0], pair[1].name, said))
    if not dates:
        return []
    return [
        Condition(
            period.said,
            tuple(_within(column_name(table.name, column.name), period) for table, column in dates),
        )
        for period in periods
    ]


def _within(place: str, period: Period) -> str:
    bounds = []
    if period.start:
        bounds.append(f"{place} >= {literal(period.start)}")
    if period.end:
        bounds.append(f"{place} < {literal(period.end)}")
    return " AND ".join(bounds)


def _of_flags(tables: Sequence[Table], said: frozenset[str]) -> list[Condition]:
    """Columns of yes and no that the question speaks of; which of the two is left to the model."""
    found = []
    for table in tables:
        for column in table.columns:
            if column.kind == "flag" and said & (column_terms(column) - table_terms(table)):
                place = column_name(table.name, column.name)
                values = ("TRUE", "FALSE") if "bool" in column.type.casefold() else ("1", "0")
                choices = tuple(f"{place} = {value}" for value in values)
                found.append(Condition(column.name, choices, sure=False))
    return found


def _counted(text: str, tables: Sequence[Table]) -> str:
    """The table whose rows are counted, where the first word that tells anything is what it is called."""
    light = light_terms() | function_terms()
    first = next((term for term in keyword_terms(text) if term not in light), "")
    called = [table.name for table in tables if first and known_as(first, called_terms(table))]
    return called[0] if len(called) == 1 else ""


def _of_missing(tables: Sequence[Table], missing: frozenset[str]) -> list[Condition]:
    """Rows that nothing refers to («покупатели без заказов»), or that refer to nothing."""
    choices: list[str] = []
    empty: list[str] = []
    shown = {table.name: table for table in tables}
    for table in tables:
        for key in table.foreign:
            other = shown.get(key.table)
            if other is None or other is table:
                continue
            place, target = column_name(table.name, key.column), column_name(key.table, key.target)
            if missing & called_terms(table):
                # For the model to choose; the guard reads whatever comes of it.
                rows = f"SELECT 1 FROM {table_name(table.name)} WHERE {place} = {target}"  # noqa: S608
                choices.append(f"NOT EXISTS ({rows})")
            elif missing & called_terms(other):
                choices.append(f"{place} IS NULL")
        empty += [
            f"{column_name(table.name, column.name)} IS NULL"
            for column in table.columns
            if column.kind != "id" and missing & column_terms(column)
        ]
    if choices:
        return [Condition("", tuple(choices))]
    return [Condition("", tuple(empty), sure=False)] if empty else []


def _nearness(table: Table, column: str, said: frozenset[str]) -> float:
    """How much of a column and its table the question says."""
    known = table.column(column) or Column(column, "", "other")
    return 2.0 * len(said & column_terms(known)) + len(said & table_terms(table))
