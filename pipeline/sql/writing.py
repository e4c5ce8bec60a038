"""A resolved statement as a person would write it: names as they are, no needless aliases and quotes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from pipeline.sql.catalog import Dialect, Table

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["plain_names", "shortened"]

_SAFE = re.compile(r"[a-z_][a-z0-9_]*")
_MADE = re.compile(r"_col_\d+")


def plain_names(
    tree: exp.Query, tables: Mapping[str, Table], shown: Mapping[str, str], dialect: Dialect
) -> None:
    """Give names their true letters and the quotes they need, in place.

    Args:
        tree: Resolved, all names small.
        tables: Table by small name.
        shown: Small name -> as the statement had it, for names that are not the catalog's.
        dialect: Whose words need quotes.
    """
    from sqlglot import exp
    from sqlglot.optimizer.scope import traverse_scope

    true: dict[int, str] = {}
    for scope in traverse_scope(tree):
        for _, source in scope.selected_sources.values():
            if isinstance(source, exp.Table) and (table := _held(source, tables)):
                *_, last = table.name.split(".")
                true[id(source.this)] = last
        for column in scope.columns:
            owner = scope.sources.get(column.table)
            around = scope.parent
            while owner is None and around is not None:
                owner, around = around.sources.get(column.table), around.parent
            table = _held(owner, tables) if isinstance(owner, exp.Table) else None
            held = table.column(column.name) if table else None
            if held is not None:
                true[id(column.this)] = held.name
    columns = sorted(column.name for table in tables.values() for column in table.columns)
    known = {name.lower(): name for name in columns}  # of several spellings the small one comes last
    known |= {name: table.name.rpartition(".")[2] for name, table in tables.items()}
    for node in tree.find_all(exp.Identifier):
        small = str(node.this)
        name = true.get(id(node)) or known.get(small) or shown.get(small, small)
        node.set("this", name)
        node.set("quoted", not _SAFE.fullmatch(name) or name.upper() in _words(dialect))
    _drop_aliases(tree)


def _held(source: exp.Table, tables: Mapping[str, Table]) -> Table | None:
    name = ".".join(part.name for part in source.parts).lower()
    return tables.get(name.removeprefix("public.").removeprefix("main."))


def _drop_aliases(tree: exp.Query) -> None:
    """``orders AS orders`` and ``total AS total`` say nothing twice."""
    from sqlglot import exp

    for table in list(tree.find_all(exp.Table)):
        if table.alias and table.alias == table.name and not table.args["alias"].args.get("columns"):
            table.set("alias", None)
    _spell_out_places(tree)
    used = {column.name for column in tree.find_all(exp.Column) if not column.table}
    for alias in list(tree.find_all(exp.Alias)):
        inner, name = alias.this, alias.alias
        same = isinstance(inner, exp.Column | exp.Literal) and inner.name == name
        made = _MADE.fullmatch(name) and alias.parent is tree and name not in used
        if (same and name not in used) or made:
            alias.replace(inner)


def _spell_out_places(tree: exp.Query) -> None:
    """``ORDER BY 2`` has been resolved to a made name; the value itself says more."""
    from sqlglot import exp

    order = tree.args.get("order")
    if order is None or not isinstance(tree, exp.Select):
        return
    made = {item.alias: item.this for item in tree.selects if _MADE.fullmatch(item.alias)}
    for column in list(order.find_all(exp.Column)):
        if not column.table and column.name in made:
            column.replace(made[column.name].copy())


def shortened(tree: exp.Query) -> exp.Query:
    """A copy in which the columns of the only table don't say whose they are."""
    from sqlglot import exp

    tree = tree.copy()
    names = {alias.alias for alias in tree.find_all(exp.Alias)}
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Table, exp.Select))) != 2:
        return tree
    columns = list(tree.find_all(exp.Column))
    if not names & {column.name for column in columns if column.table}:
        for column in columns:
            column.set("table", None)
    return tree


@cache
def _words(dialect: Dialect) -> frozenset[str]:
    from sqlglot.dialects.dialect import Dialect as Known

    tokenizer = Known.get_or_raise(dialect).tokenizer_class
    return frozenset(word.upper() for word in tokenizer.KEYWORDS if word.isidentifier())
