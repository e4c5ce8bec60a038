"""What a database holds, as far as questions may know: tables, columns, keys, notes, stored values.

Everything else of this package is a function of a catalog: which tables a question is about, what the
prompt says of them, which statements the guard lets through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Catalog", "Column", "ColumnKind", "Dialect", "ForeignKey", "Table"]

Dialect = Literal["sqlite", "postgres"]
"""Names that sqlglot knows."""

ColumnKind = Literal["number", "date", "category", "text", "id", "flag", "other"]
"""``category``: few different short values; ``text``: long texts, which are searched by meaning."""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A column that holds the key of a row of another table."""

    column: str
    table: str
    target: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column a statement may read.

    Attributes:
        type: As the database calls it.
        note: What it means to the business, in the owner's words.
        synonyms: What people call it.
        values: Stored values of a ``category``, in order; empty for every other kind.
    """

    name: str
    type: str
    kind: ColumnKind
    note: str = ""
    synonyms: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table a statement may read; only its allowed columns are here."""

    name: str
    columns: tuple[Column, ...]
    key: str = ""
    foreign: tuple[ForeignKey, ...] = ()
    note: str = ""
    synonyms: tuple[str, ...] = ()
    rows: int = 0

    def column(self, name: str) -> Column | None:
        """The column of this name, in any case of letters."""
        return next((column for column in self.columns if column.name.casefold() == name.casefold()), None)


@dataclass(frozen=True, slots=True)
class Catalog:
    """One database.

    Attributes:
        name: What ``sources.toml`` calls it.
        tables: Table name -> table; only allowed ones.
        note: Business context of the whole database.
        examples: Questions of the owner with the statement that answers each.
        fingerprint: Changes when anything above or the stored values change.
    """

    name: str
    dialect: Dialect
    tables: Mapping[str, Table]
    note: str = ""
    examples: tuple[tuple[str, str], ...] = field(default=())
    fingerprint: str = ""
