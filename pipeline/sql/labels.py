"""What tables, columns and computed values are called before people: the owner's words, else their names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.messages import text
from pipeline.sql.catalog import Catalog, Column, Table
from pipeline.types import Language

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["Label", "Labels"]

_LONG = 60
_NAMES = ("name", "title", "caption", "label")
_UNIT = re.compile(r"[^,]*,\s*(?P<unit>руб|₽|кг|км|м|мин|шт|проц|%|кв)", re.IGNORECASE)
_PARTS = {"%Y-%m": "months", "%Y": "years", "%Y-%m-%d": "days", "%m": "months", "%W": "weeks"}
_TRUNCATED = {"YEAR": "years", "QUARTER": "quarters", "MONTH": "months", "WEEK": "weeks", "DAY": "days"}


@dataclass(frozen=True, slots=True)
class Label:
    """What a column of a result is called.

    Attributes:
        text: For people.
        is_money: It is a sum in roubles, by the owner's note.
        is_flag: It is yes or no, which SQLite keeps as 1 and 0.
    """

    text: str
    is_money: bool = False
    is_flag: bool = False


class Labels:
    """Names things of one catalog in one language.

    Args:
        catalog: Its notes are Russian as a rule, so that English takes the names themselves.
        language: Of the reader.
    """

    def __init__(self, catalog: Catalog, language: Language) -> None:
        self._catalog = catalog
        self._language = language

    def say(self, key: str, **values: object) -> str:
        """A text ``explain_<key>`` of ``answers.toml``."""
        return text("answers", f"explain_{key}", self._language, "", **values)

    def told(self, key: str, **values: object) -> str:
        """A text ``told_<key>`` of ``answers.toml``."""
        return text("answers", f"told_{key}", self._language, "", **values)

    def quoted(self, words: str) -> str:
        """Words in the quotes of the language."""
        return f"«{words}»" if self._language == "ru" else f'"{words}"'

    def table(self, name: str) -> str:
        """A table: its first synonym, else the beginning of its note, else its name."""
        table = self._table(name)
        if table is None or self._language == "en":
            return name
        return (table.synonyms[0] if table.synonyms else _short(table.note)) or name

    def column(self, node: exp.Column) -> str:
        """A column: the beginning of its note, else its first synonym, else its name."""
        column = self._column(node)
        if column is None or self._language == "en":
            return str(node.name)
        words = _short(column.note) or (column.synonyms[0] if column.synonyms else "")
        if not words and column.name.lower() in _NAMES and (source := _source(node)):
            words = self.table(source)  # the name of a department is «отделы», not «name»
        return words or str(node.name)

    def kind(self, node: exp.Expr) -> str:
        """The kind of a column of the catalog; empty for anything else."""
        from sqlglot import exp

        column = self._column(node) if isinstance(node, exp.Column) else None
        return column.kind if column else ""

    def of(self, node: exp.Expr) -> Label:
        """A value of the select list."""
        from sqlglot import exp

        if isinstance(node, exp.Alias):
            inner = self.of(node.this)
            return inner if inner.text else Label(node.alias)
        if isinstance(node, exp.Round | exp.Cast | exp.Coalesce | exp.Paren):
            return self.of(node.this)
        if isinstance(node, exp.Count):
            return Label(self._counted(node))
        money = any(self._is_money(column) for column in node.find_all(exp.Column))
        if isinstance(node, exp.Column):
            return Label(self.quoted(self.column(node)), money, self.kind(node) == "flag")
        return Label(self._computed(node), money)

    def _computed(self, node: exp.Expr) -> str:
        from sqlglot import exp

        for kind, key in ((exp.Sum, "sum"), (exp.Avg, "avg"), (exp.Min, "min"), (exp.Max, "max")):
            if isinstance(node, kind):
                return self.told(key, name=self._inner(node))
        part = self.part(node)
        return self.say(part) if part else ""

    def part(self, node: exp.Expr) -> str:
        """``months`` for a value that is the month of a date, and so on; empty for anything else."""
        from sqlglot import exp

        if isinstance(node, exp.Anonymous) and str(node.this).lower() == "strftime":
            first = node.expressions[0] if node.expressions else None
            return _PARTS.get(first.name, "") if first is not None else ""
        if isinstance(node, exp.TimeToStr | exp.ToChar):
            return _PARTS.get(str(node.args["format"].name), "") if node.args.get("format") else ""
        if isinstance(node, exp.DateTrunc | exp.TimestampTrunc):
            return _TRUNCATED.get(str(node.args["unit"].name).upper(), "")
        if isinstance(node, exp.Extract):
            return _TRUNCATED.get(str(node.name).upper(), "")
        return ""

    def _counted(self, node: exp.Count) -> str:
        from sqlglot import exp

        if isinstance(node.this, exp.Distinct):
            return self.told("count_distinct", name=self._inner(node))
        if isinstance(node.this, exp.Star) or self.kind(node.this) == "id":
            return self.told("count", name=self._main_table(node))
        return self.told("count_of", name=self._inner(node))

    def _main_table(self, node: exp.Expr) -> str:
        """The table whose rows are counted: the first one of the FROM."""
        from sqlglot import exp

        select = node.find_ancestor(exp.Select)
        source = (select.args.get("from_") or select.args.get("from")) if select is not None else None
        return self.table(source.this.name) if source is not None else ""

    def _inner(self, node: exp.Expr) -> str:
        """The columns inside a computed value."""
        from sqlglot import exp

        columns = [self.column(column) for column in node.find_all(exp.Column)]
        return " × ".join(dict.fromkeys(columns)) or str(node.sql())[:_LONG]

    def _is_money(self, node: exp.Column) -> bool:
        column = self._column(node)
        unit = _UNIT.match(column.note) if column else None
        return unit is not None and unit["unit"].lower() in ("руб", "₽")

    def _table(self, name: str) -> Table | None:
        found = (table for table in self._catalog.tables.values() if table.name.casefold() == name.casefold())
        return next(found, None)

    def _column(self, node: exp.Expr) -> Column | None:
        from sqlglot import exp

        if not isinstance(node, exp.Column):
            return None
        table = self._table(_source(node))
        if table is not None:
            return table.column(node.name)
        owners = [held for table in self._catalog.tables.values() if (held := table.column(node.name))]
        return owners[0] if len(owners) == 1 else None


def _source(node: exp.Column) -> str:
    """The table that the alias before a column stands for."""
    from sqlglot import exp

    select = node.find_ancestor(exp.Select)
    while select is not None:
        for table in select.find_all(exp.Table):
            if table.alias_or_name == node.table:
                return str(table.name)
        select = select.find_ancestor(exp.Select)
    return str(node.table)


def _short(note: str) -> str:
    """A note up to its first comma or the like."""
    words = re.split(r"[,;:.(]", note, maxsplit=1)[0].strip()
    return words if len(words) <= _LONG else words[:_LONG].rsplit(" ", 1)[0]
