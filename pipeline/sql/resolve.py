"""Names of a statement resolved against the catalog: each column to its table, each star to its columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pipeline.errors import StatementRefusedError
from pipeline.sql.catalog import Catalog, Table
from pipeline.sql.refusal import refused
from pipeline.sql.writing import plain_names

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope

__all__ = ["Resolver"]

_NAMED = re.compile(r"[Cc]olumn:? '([^']*)'")
_LONG = 500  # characters of what there is, named in an error


class Resolver:
    """Resolves statements over one catalog.

    Args:
        catalog: Its tables and columns are the only ones there are.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._dialect = catalog.dialect
        self._tables = {_plain_table(name): table for name, table in catalog.tables.items()}
        self._named: dict[str, Table] = {}

    def resolve(self, tree: exp.Query) -> exp.Query:
        """A statement in which every column has its table and no star is left.

        Raises:
            StatementRefusedError: A table or a column is not in the catalog, or may be of two tables.
        """
        from sqlglot import MappingSchema, exp
        from sqlglot.errors import OptimizeError
        from sqlglot.optimizer.qualify import qualify

        _read_as_values(tree, self._tables)
        shown = _lowered(tree)
        self._check_tables(tree)
        _spell_out_order(tree)
        schema = MappingSchema(
            {
                name: {column.name.lower(): "unknown" for column in table.columns}
                for name, table in self._tables.items()
            },
            dialect=self._dialect,
            normalize=False,
        )
        try:
            qualified = qualify(
                tree, dialect=self._dialect, schema=schema, quote_identifiers=False, identify=False
            )
        except OptimizeError as error:
            named = _NAMED.search(str(error))
            raise self._missing(named[1] if named else str(error)[:_LONG]) from error
        # A star that is left would give hidden columns too.
        if any(not isinstance(star.parent, exp.Count) for star in qualified.find_all(exp.Star)):
            raise refused("part", name="*")
        plain_names(qualified, self._tables, shown, self._dialect)
        return qualified

    def reads(self, tree: exp.Query) -> set[tuple[str, str]]:
        """(table, column) pairs that a resolved statement reads; (table, "") for a table as a whole.

        Raises:
            StatementRefusedError: Something in it is no column of an allowed table.
        """
        from sqlglot import exp
        from sqlglot.optimizer.scope import traverse_scope

        found: set[tuple[str, str]] = set()
        seen: set[int] = set()
        for scope in traverse_scope(tree):
            for node, source in scope.selected_sources.values():
                seen |= {id(node), id(source)}
                if isinstance(source, exp.Table):
                    found.add((self._table(source).name, ""))
            for column in scope.columns:
                seen.add(id(column))
                found |= self._pair(column, scope)
        # Whatever no scope knows of is somewhere a name should not be.
        for table in tree.find_all(exp.Table):
            if id(table) not in seen:
                raise refused("part", name=table.name)
        for column in tree.find_all(exp.Column):
            if id(column) not in seen and not _is_output(column):
                raise self._missing(column.name)
        return found

    def _pair(self, column: exp.Column, scope: Scope) -> set[tuple[str, str]]:
        table = self._owner(column, scope)
        if table is None:
            return set()
        held = table.column(column.name)
        if held is None:
            raise self._missing(column.name)
        return {(table.name, held.name)}

    def _check_tables(self, tree: exp.Query) -> None:
        from sqlglot import exp

        names = [cte.alias.lower() for cte in tree.find_all(exp.CTE)]
        if twice := [name for name in names if names.count(name) > 1 or name in self._tables]:
            raise refused("with_name", name=twice[0])
        for node in tree.find_all(exp.Table):
            if node.db or node.name not in names:
                self._named[node.name] = self._table(node)

    def _table(self, node: exp.Table) -> Table:
        parts = [part.name.lower() for part in node.parts]
        name = ".".join(parts)
        for prefix in ("main.",) if self._dialect == "sqlite" else ("public.",):
            name = name.removeprefix(prefix)
        table = self._tables.get(name)
        # "public.orders" in quotes is a name with a point in it, not a table of a schema.
        if table is None or any("." in part for part in parts):
            raise refused("table", name=name, known=", ".join(held.name for held in self._tables.values()))
        return table

    def _missing(self, name: str) -> StatementRefusedError:
        """The error for a column that is not there, or is in several tables; it names what there is."""
        owners = [table for table in self._named.values() if table.column(name) is not None]
        if len(owners) > 1:
            return refused("ambiguous", name=name)
        known = "; ".join(
            f"{table.name}: {', '.join(column.name for column in table.columns)}"
            for table in self._named.values()
        )
        return refused("column", name=name, known=known[:_LONG])

    def _owner(self, column: exp.Column, scope: Scope) -> Table | None:
        """The table that holds a column, or None where that is a subquery or the select list itself."""
        from sqlglot import exp

        if not column.table:
            if _is_output(column):
                return None
            raise self._missing(column.name)
        around: Scope | None = scope
        while around is not None:
            if column.table in around.sources:
                source = around.sources[column.table]
                return self._table(source) if isinstance(source, exp.Table) else None
            around = around.parent
        raise self._missing(f"{column.table}.{column.name}")


def _read_as_values(tree: exp.Query, tables: Mapping[str, Table]) -> None:
    """``status = "new"``: what stands in double quotes and is no name is meant as a value."""
    from sqlglot import exp

    known = {column.name.lower() for table in tables.values() for column in table.columns}
    known |= {alias.alias.lower() for alias in tree.find_all(exp.Alias, exp.TableAlias)}
    for column in list(tree.find_all(exp.Column)):
        compared = isinstance(column.parent, exp.Predicate | exp.In) and column.arg_key != "this"
        if (
            compared
            and column.this.args.get("quoted")
            and not column.table
            and column.name.lower() not in known
        ):
            column.replace(exp.Literal.string(column.name))


def _plain_table(name: str) -> str:
    return name.lower().removeprefix("public.").removeprefix("main.")


def _lowered(tree: exp.Query) -> dict[str, str]:
    """Write all names small, in place; returns how they were written."""
    from sqlglot import exp

    shown: dict[str, str] = {}
    for node in tree.find_all(exp.Identifier):
        name = str(node.this)
        shown.setdefault(name.lower(), name)
        node.set("this", name.lower())
    return shown


def _spell_out_order(tree: exp.Query) -> None:
    """``ORDER BY share * 2`` with ``share`` of the select list: not every database takes that."""
    from sqlglot import exp

    for select in tree.find_all(exp.Select):
        order = select.args.get("order")
        named = {item.alias: item.this for item in select.expressions if isinstance(item, exp.Alias)}
        for column in list(order.find_all(exp.Column)) if order and named else ():
            inner = named.get(column.name)
            if not column.table and inner is not None and not isinstance(column.parent, exp.Ordered):
                column.replace(exp.paren(inner.copy()))


def _is_output(node: exp.Expr) -> bool:
    """True for a name of the select list that an ORDER BY refers to, alone."""
    from sqlglot import exp

    if not isinstance(node, exp.Column) or node.table or not isinstance(node.parent, exp.Ordered):
        return False
    order = node.parent.parent
    query = order.parent if isinstance(order, exp.Order) else None
    return isinstance(query, exp.Query) and node.name.lower() in {
        name.lower() for name in query.named_selects
    }
