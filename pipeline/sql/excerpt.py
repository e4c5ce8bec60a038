"""The part of a schema that a prompt shows: few tables, in few words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from pipeline.sql.catalog import Catalog, Column, Table

__all__ = ["Excerpt", "excerpt", "whole"]

VALUES_SHOWN = 12
"""Values of a category that a prompt shows; of more, the ones that the question names come first."""

NOTE_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What of a database a prompt shows.

    Attributes:
        tables: The tables, with the columns that are shown.
        text: As the model reads it.
        asked: Tables that the question is about; the others are there to join these.
    """

    tables: tuple[Table, ...]
    text: str
    asked: tuple[str, ...]


def whole(catalog: Catalog) -> Excerpt:
    """All tables with all columns."""
    names = tuple(catalog.tables)
    return excerpt(catalog, names, ())


def excerpt(
    catalog: Catalog,
    asked: Collection[str],
    joining: Collection[str],
    named: Mapping[tuple[str, str], tuple[str, ...]] | None = None,
) -> Excerpt:
    """The excerpt of the given tables.

    Args:
        catalog: The database.
        asked: Tables the question is about: all columns.
        joining: Tables that only lie between: keys, and the first column of words.
        named: (table, column) -> values that the question names.
    """
    kept = [catalog.tables[name] for name in asked if name in catalog.tables]
    kept += [_bare(catalog.tables[name]) for name in joining if name not in asked]
    named = named or {}
    text = "\n".join(_table(table, named) for table in kept)
    return Excerpt(tuple(kept), text, tuple(table.name for table in kept if table.name in asked))


def _bare(table: Table) -> Table:
    """A table that is only passed through: its keys and its first column of words, usually a name."""
    keys = {table.key, *(key.column for key in table.foreign)}
    kept = tuple(column for column in table.columns if column.name in keys or column.kind == "id")
    title = next((column for column in table.columns if column.kind in ("other", "category")), None)
    return replace(table, columns=kept if title is None or title in kept else (*kept, title))


def _table(table: Table, named: Mapping[tuple[str, str], tuple[str, ...]]) -> str:
    keys = {key.column: f" -> {key.table}.{key.target}" for key in table.foreign}
    columns = ", ".join(
        _column(column, keys.get(column.name, ""), named.get((table.name, column.name), ()))
        for column in table.columns
    )
    note = f" -- {_short(table.note)}" if table.note else ""
    return f"{table.name}({columns}){note}"


def _column(column: Column, key: str, named: tuple[str, ...]) -> str:
    if key:
        return f"{column.name}{key}"
    if column.kind == "id":
        return column.name
    values = _values(column, named)
    kind = {"number": " number", "date": " date", "flag": " 0/1"}.get(column.kind, "")
    note = _short(column.note)
    about = "; ".join(part for part in (note, values) if part)
    return f"{column.name}{kind}" + (f" /* {about} */" if about else "")


def _values(column: Column, named: tuple[str, ...]) -> str:
    if column.kind != "category":
        return ""
    shown = list(dict.fromkeys((*(value for value in named if value in column.values), *column.values)))
    quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in shown[:VALUES_SHOWN])
    return quoted + (", …" if len(shown) > VALUES_SHOWN else "")


def _short(note: str) -> str:
    """A note on one line, cut at a word."""
    text = " ".join(note.replace("*/", "").split())
    if len(text) <= NOTE_CHARACTERS:
        return text
    return text[:NOTE_CHARACTERS].rsplit(" ", 1)[0] + "…"
