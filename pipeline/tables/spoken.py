"""Results and questions back, as a reply shows them."""

from __future__ import annotations

from pipeline.sql.catalog import Catalog
from pipeline.sql.guard import Guarded
from pipeline.sql.labels import Labels
from pipeline.sql.runner import ResultTable
from pipeline.tables.rows import text_tables
from pipeline.tables.turn import Turn
from pipeline.types import Clarification, Language, Option, Route, TableView

__all__ = ["clarification", "view_of"]


def view_of(result: ResultTable, guarded: Guarded, catalog: Catalog, language: Language) -> TableView:
    """A result as a reply shows it."""
    labels = Labels(catalog, language)
    named = [labels.of(node).text for node in guarded.tree.selects][: len(result.columns)]
    words = [_heading(text) or column for text, column in zip(named, result.columns, strict=False)]
    words += result.columns[len(words) :]
    return TableView(result.columns, result.kinds, result.rows, result.truncated, tuple(words))


def _heading(words: str) -> str:
    """Without the quotes that a name has in a sentence: above a column nothing else stands beside it."""
    quoted = words[:1] in ("«", '"') and words[-1:] in ("»", '"')
    return words[1:-1] if quoted and not any(mark in words[1:-1] for mark in '«»"') else words


def clarification(turn: Turn) -> Clarification:
    """What to ask back: which of several columns a value is of, or whether to compute or to search."""
    if turn.unclear:
        values = turn.unclear
        labels = [_column_label(turn.catalog, value.table, value.column) for value in values]
        options = tuple(
            Option(label, f"{turn.question} ({label}: {value.value})")
            for label, value in zip(labels, values, strict=True)
        )
        return Clarification(turn.say("ask_value", value=values[0].said), options)
    routes: tuple[Route, ...] = (
        ("sql", "hybrid", "search") if text_tables(turn.catalog) else ("sql", "search")
    )
    options = tuple(Option(turn.say(f"route_{route}"), turn.question, route) for route in routes)
    return Clarification(turn.say("ask_route"), options)


def _column_label(catalog: Catalog, table: str, column: str) -> str:
    """A column as a person would call it."""
    found = catalog.tables[table]
    named = found.column(column)
    owner = found.note or (found.synonyms[0] if found.synonyms else found.name)
    return f"{(named.note if named else '') or column}, {owner}"
