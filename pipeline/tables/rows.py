"""The rows of a table of texts that a question's conditions select: a statement without a model.

Which rows are meant follows from values, periods and amounts that the question names; their texts are then
searched by meaning, and only theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.sql.catalog import Catalog, Column, Table
from pipeline.sql.completion import completed
from pipeline.sql.cues import cues_of
from pipeline.sql.names import column_terms, table_terms
from pipeline.sql.select_grammar import Known, column_name, table_name
from pipeline.text.function_words import function_terms
from pipeline.text.stems import keyword_terms

__all__ = ["MOST_ROWS", "RowsQuery", "rows_query", "text_tables"]

MOST_ROWS = 20_000
"""Rows that a search is limited to at most."""


@dataclass(frozen=True, slots=True)
class RowsQuery:
    """A statement that gives the keys of rows whose texts are to be searched."""

    table: Table
    statement: str


def text_tables(catalog: Catalog) -> list[Table]:
    """Tables whose rows are documents of the index too."""
    return [
        table
        for table in catalog.tables.values()
        if table.key and any(column.kind == "text" for column in table.columns)
    ]


def rows_query(catalog: Catalog, table: Table, known: Known, question: str) -> RowsQuery | None:
    """The rows of a table that meet all conditions of a question; None where it states none that hold here.

    Args:
        catalog: The database.
        table: A table of texts.
        known: What the question's words came to, over the columns of this table and of those it leads to.
        question: Its superlatives order the rows: «в пяти самых новых статьях».
    """
    conditions = [condition.choices[0] for condition in known.conditions if condition.sure]
    conditions += [_compared(table, *number, question) for number in known.numbers]
    conditions = [condition for condition in conditions if condition]
    order = _order(table, question)
    if not conditions and not order:
        return None
    key = column_name(table.name, table.key)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    # Names come from the catalog and values are quoted; the guard reads it like any other statement.
    statement = f"SELECT {key} FROM {table_name(table.name)}{where}{order}"  # noqa: S608
    return RowsQuery(table, completed(statement, catalog, show=False))


def _compared(table: Table, operator: str, number: str, question: str) -> str:
    """A number compared with the column that the question names, or the only one there is."""
    column = _measure(table, question, named=not operator)
    return f"{column_name(table.name, column.name)} {operator or '='} {number}" if column else ""


def _order(table: Table, question: str) -> str:
    """The order that a superlative asks for, and how many rows of it."""
    cues = cues_of(question)
    column = _measure(table, question, named=True, dates=True) if cues.most else None
    if column is None:
        return ""
    direction = "ASC" if cues.least else "DESC"
    return f" ORDER BY {column_name(table.name, column.name)} {direction} LIMIT {max(cues.limit, 1)}"


def _measure(table: Table, question: str, *, named: bool = False, dates: bool = False) -> Column | None:
    """The column of numbers whose words the question says; unless it must be ``named``, the only one."""
    said = frozenset(keyword_terms(question)) - function_terms() - table_terms(table)
    kinds = ("number", "date") if dates else ("number",)
    columns = [column for column in table.columns if column.kind in kinds]
    best = max(columns, key=lambda column: len(said & column_terms(column)), default=None)
    if best is not None and said & column_terms(best):
        return best
    return columns[0] if len(columns) == 1 and not named else None
