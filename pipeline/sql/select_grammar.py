"""The SELECT statements that could answer a question, as a grammar the model has to follow.

A small model knows what a question asks for better than it knows a schema: left alone it invents columns,
joins by the wrong keys and adds conditions nobody named. So the grammar holds what is known already: the
tables and columns of the excerpt, the ways to join them, the conditions and numbers that the question's
words came to, whether it groups and how many rows it wants. The model chooses among what is left.

Every name is written ``table.column``; the tables behind FROM are completed afterwards (`completion`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline.sql.catalog import Column, Dialect, Table
from pipeline.sql.cues import Cues

__all__ = ["Condition", "Known", "column_name", "free_grammar", "quoted", "select_grammar", "table_name"]

_WORDY = ("other", "category", "text")
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_RESERVED = frozenset(
    """
    all and as asc between by case check column create cross current_date default delete desc distinct
    drop else end except exists false for foreign from full grant group having if in index inner insert
    intersect into is join key left like limit natural not null offset on or order outer primary
    references right select set table then to true union unique update user using values view when where
    window with
    """.split()  # noqa: SIM905 - a list of words
)


@dataclass(frozen=True, slots=True)
class Condition:
    """What some words of a question ask of the rows.

    Attributes:
        said: The words.
        choices: SQL conditions that they may stand for, the likeliest first; one of them is meant.
        sure: A statement without it would be wrong.
    """

    said: str
    choices: tuple[str, ...]
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Known:
    """What the words of a question have come to before a model is asked.

    Attributes:
        conditions: What is asked of the rows.
        numbers: (operator, number) that some numeric column, or a count, is compared with; an empty
            operator leaves it open.
        names: Words that no stored value is known for; a column of words may be like one.
        counted: The table whose rows are counted, where that is plain.
        grouped: It is plain that one row a thing is asked for.
    """

    conditions: tuple[Condition, ...] = ()
    numbers: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()
    grouped: bool = False
    counted: str = ""

    @property
    def stated(self) -> tuple[str, ...]:
        """The sure conditions as a prompt tells them, each by its likeliest meaning."""
        return tuple(condition.choices[0] for condition in self.conditions if condition.sure)


def quoted(name: str) -> str:
    """A name as SQL writes it, quoted only where it must be."""
    if _PLAIN.fullmatch(name) and name not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def table_name(table: str) -> str:
    """A table as FROM names it, its schema before it where it has one."""
    return ".".join(quoted(part) for part in table.split("."))


def column_name(table: str, column: str) -> str:
    """A column with its table, whose schema needs no mention."""
    return f"{quoted(table.rpartition('.')[2])}.{quoted(column)}"


def free_grammar() -> str:
    """Any one text that begins as a SELECT and ends at the first semicolon."""
    return 'root ::= ("SELECT " | "WITH ") [^;`]+ ";"'


def select_grammar(tables: Sequence[Table], known: Known, cues: Cues, dialect: Dialect) -> str:
    """The grammar for one question; see above.

    Args:
        tables: Tables and columns of the excerpt.
        known: What the question's words came to.
        cues: What the question wants done.
        dialect: How parts of dates are written.
    """
    columns = [(table, column) for table in tables for column in table.columns]
    numeric = [_name(table, column) for table, column in columns if column.kind == "number"]
    dates = [_name(table, column) for table, column in columns if column.kind == "date"]
    parts = [_part(name, part, dialect) for name in dates for part in cues.parts]
    joins = _joins(tables)
    conditions = _conditions(tables, known, cues)
    where = "where" if conditions["where"] else ""
    having = bool(conditions["having"])

    def tail(kind: Literal["rows", "sums", "groups"]) -> str:
        return _tail(cues, where, kind=kind, having=having)

    rules = {
        "root": _root(cues, known) + ' ";"',
        "rows": f'"SELECT " "DISTINCT "? column (", " column){{0,4}} {tail("rows")}',
        "sums": f'"SELECT " aggregate (", " aggregate){{0,2}} {tail("sums")}',
        "groups": f'"SELECT " key (", " key)? (", " aggregate){{1,2}} {tail("groups")}',
        "from": f'" FROM " {_base(tables, known)}' + (" join*" if joins else ""),
        "join": _choice(joins),
        "order-rows": '" ORDER BY " column (" DESC" | " ASC")',
        "order-groups": '" ORDER BY " aggregate (" DESC" | " ASC")',
        "limit": f'" LIMIT {cues.limit}"' if cues.limit else "",
        "aggregate": _alternatives(
            '"COUNT(*)"',
            '"COUNT(DISTINCT " column ")"',
            '("SUM" | "AVG" | "MIN" | "MAX") "(" amount ")"' if numeric else "",
            '("MIN" | "MAX") "(" date ")"' if dates else "",
        ),
        "amount": 'number ((" * " | " - ") number)?' if numeric else "",
        "key": _alternatives("part" if parts else "", "column"),
        "column": _choice(_name(table, column) for table, column in columns),
        "number": _choice(numeric),
        "date": _choice(dates),
        "part": _choice(parts),
        "words": _choice(_name(table, column) for table, column in columns if column.kind in _WORDY),
        "table": _choice(table_name(table.name) for table in tables),
        **conditions,
    }
    return "\n".join(f"{name} ::= {body}" for name, body in rules.items() if body)


def _root(cues: Cues, known: Known) -> str:
    """Which kinds of statements suit the wording."""
    counted = cues.count or cues.total or cues.average
    if cues.parts or known.grouped or (cues.group and counted):
        return "groups"
    if cues.most:
        return "(rows | groups | sums)"
    if counted:
        return "(sums | groups)"
    return "(rows | sums | groups)"


def _base(tables: Sequence[Table], known: Known) -> str:
    """The table that FROM begins with: the one whose rows are counted, if one is."""
    counted = known.counted if known.counted in {table.name for table in tables} else ""
    return _literal(table_name(counted)) if counted else "table"


def _tail(cues: Cues, where: str, *, kind: Literal["rows", "sums", "groups"], having: bool) -> str:
    """What follows the columns: where from, which rows, grouped and ordered how."""
    tail = f"from {where}".rstrip()
    if kind == "sums":
        return tail
    if kind == "groups":
        tail += ' " GROUP BY " key (", " key)?' + (" having?" if having else "")
    if cues.most:
        return f"{tail} order-{kind} limit" if cues.limit else f"{tail} order-{kind}"
    return f'{tail} " ORDER BY " key' if kind == "groups" and cues.parts else tail


def _conditions(tables: Sequence[Table], known: Known, cues: Cues) -> dict[str, str]:
    """Rules ``where`` and ``having``; what is sure comes first, in the order of the question."""
    shown = [name for table in tables for name in _names_of(table)]
    rules: dict[str, str] = {}
    sure: list[str] = []
    free: list[str] = []
    for place, condition in enumerate(known.conditions):
        fitting = [choice for choice in condition.choices if any(name in choice for name in shown)]
        if fitting:
            rules[f"condition-{place}"] = _choice(fitting)
            (sure if condition.sure else free).append(f"condition-{place}")
    free += _free_conditions(tables, known, cues)
    rules["free"] = _alternatives(*free)
    parts = ['" WHERE " ' + ' " AND " '.join(sure)] if sure else []
    if free:
        parts.append('(" AND " free){0,2}' if sure else '(" WHERE " free (" AND " free){0,2})?')
    rules["where"] = " ".join(parts)
    rules["having"] = f'" HAVING " aggregate {_compared(known.numbers)}' if known.numbers else ""
    return rules


def _free_conditions(tables: Sequence[Table], known: Known, cues: Cues) -> list[str]:
    """Conditions that the words allow and do not ask for in so many words."""
    kinds = {column.kind for table in tables for column in table.columns}
    free: list[str] = []
    if "number" in kinds and known.numbers:
        free.append(f"number {_compared(known.numbers)}")
    if "number" in kinds and cues.average and cues.compare:
        free.append('number (" > " | " < ") "(SELECT AVG(" number ") FROM " table ")"')
    if kinds & set(_WORDY) and known.names:
        free.append(f'words " LIKE " {_choice(_pattern(name) for name in known.names)}')
    return free


def _compared(numbers: Sequence[tuple[str, str]]) -> str:
    """An operator and a number; where the words leave the operator open, any of them."""
    return _choice(
        f" {operator} {number}"
        for given, number in numbers
        for operator in ((given,) if given else (">", "<", ">=", "<=", "="))
    )


def _joins(tables: Sequence[Table]) -> list[str]:
    """`` JOIN b ON a.key = b.id`` along every foreign key, both ways."""
    names = {table.name for table in tables}
    found: dict[str, None] = {}
    for table in tables:
        for key in table.foreign:
            if key.table not in names or key.table == table.name:
                continue
            link = f"{column_name(table.name, key.column)} = {column_name(key.table, key.target)}"
            found[f" JOIN {table_name(key.table)} ON {link}"] = None
            found[f" JOIN {table_name(table.name)} ON {link}"] = None
    return list(found)


def _names_of(table: Table) -> list[str]:
    return [_name(table, column) for column in table.columns]


def _name(table: Table, column: Column) -> str:
    return column_name(table.name, column.name)


def _part(name: str, part: str, dialect: Dialect) -> str:
    """A part of a date as a text that sorts by time."""
    if dialect == "postgres":
        form = {"year": "YYYY", "quarter": 'YYYY-"Q"Q', "month": "YYYY-MM", "day": "YYYY-MM-DD"}[part]
        return f"TO_CHAR({name}, '{form}')"
    if part == "quarter":
        return f"STRFTIME('%Y', {name}) || '-Q' || ((STRFTIME('%m', {name}) + 2) / 3)"
    return f"STRFTIME('{ {'year': '%Y', 'month': '%Y-%m', 'day': '%Y-%m-%d'}[part] }', {name})"


def _pattern(word: str) -> str:
    return "'%" + word.replace("'", "''").replace("%", "").replace("_", " ") + "%'"


def _choice(texts: Iterable[str]) -> str:
    literals = dict.fromkeys(texts)
    if not literals:
        return ""
    return "(" + " | ".join(_literal(text) for text in literals) + ")"


def _alternatives(*parts: str) -> str:
    return " | ".join(part for part in parts if part)


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
