"""What a written statement leaves out and the schema knows: the tables between, the columns worth seeing.

The model says which columns it wants; which tables must be joined for that, and by which keys, follows from
the foreign keys. And a list in an order, or of groups, is of use only with what it is ordered or grouped by.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from pipeline.errors import ExtraMissingError
from pipeline.sql.catalog import Catalog
from pipeline.sql.paths import between

__all__ = ["completed"]


def completed(statement: str, catalog: Catalog, *, show: bool = True) -> str:
    """The statement with its joins made whole and its columns completed; as it stands where that is unclear.

    Args:
        statement: One SELECT, every column with its table.
        catalog: Its tables and keys.
        show: Have the result show what it is grouped and ordered by.

    Raises:
        ExtraMissingError: sqlglot is not installed.
    """
    try:
        from sqlglot import exp, parse_one
        from sqlglot.errors import SqlglotError
    except ImportError as error:
        raise ExtraMissingError(package="sqlglot", extra="sql") from error
    try:
        tree: Any = parse_one(statement, dialect=catalog.dialect)
    except SqlglotError:  # the guard will say what is wrong with it
        return statement
    if not isinstance(tree, exp.Select):
        return statement
    _join(tree, catalog)
    _say_once(tree)
    if show:
        _show_keys(tree)
        _name_figures(tree)
    return str(tree.sql(dialect=catalog.dialect))


def _join(tree: Any, catalog: Catalog) -> None:  # noqa: ANN401 - sqlglot's trees
    """Replace FROM and JOINs by the tables that the columns need, joined by their keys."""
    from sqlglot import exp

    given = _plain_tables(tree, catalog)
    used = [
        name
        for column in tree.find_all(exp.Column)
        if column.find_ancestor(exp.Select) is tree and not column.find_ancestor(exp.Join)
        for name in [_known(column.table, catalog)]
        if name
    ]
    if not given:
        return
    counts_rows = any(isinstance(star.parent, exp.Count) for star in tree.find_all(exp.Star))
    bases = given if counts_rows or not used else [name for name in given if name in used][:1] or used[:1]
    needed = list(dict.fromkeys([*bases, *used]))
    everything = {*needed, *between(catalog, needed)}
    if everything == set(given):
        order = _ordered(given[0], everything, catalog)
    else:
        order = _ordered(needed[0], everything, catalog)
    if order is None:
        return
    base, links = order
    tree.set("from_" if "from_" in tree.arg_types else "from", exp.From(this=_table(base)))
    joins = [
        exp.Join(
            this=_table(name),
            on=exp.EQ(this=_column(left, left_column), expression=_column(right, right_column)),
        )
        for name, (left, left_column, right, right_column) in links
    ]
    tree.set("joins", joins)


def _plain_tables(tree: Any, catalog: Catalog) -> list[str]:  # noqa: ANN401
    """The tables of FROM and JOIN; none where they are more than plain tables joined by equal keys."""
    from sqlglot import exp

    source = tree.args.get("from_") or tree.args.get("from")
    joins = tree.args.get("joins") or []
    if source is None or any(join.side or join.kind not in ("", "INNER") for join in joins):
        return []
    tables = [source.this, *(join.this for join in joins)]
    names = [
        _known(table.name, catalog) if isinstance(table, exp.Table) and not table.alias else ""
        for table in tables
    ]
    if not all(names) or len(set(names)) < len(names):
        return []
    return names


def _known(name: str, catalog: Catalog) -> str:
    wanted = name.casefold()
    return next(
        (
            table
            for table in catalog.tables
            if wanted in (table.casefold(), table.rpartition(".")[2].casefold())
        ),
        "",
    )


_Link = tuple[str, str, str, str]


def _ordered(base: str, names: set[str], catalog: Catalog) -> tuple[str, list[tuple[str, _Link]]] | None:
    """The tables in an order in which each can be joined to one before it; None where there is none."""
    links = [
        (table.name, key.column, key.table, key.target)
        for table in catalog.tables.values()
        for key in table.foreign
        if table.name in names and key.table in names and key.table != table.name
    ]
    found: list[tuple[str, _Link]] = []
    seen, line = {base}, deque([base])
    while line:
        here = line.popleft()
        for link in links:
            other = link[2] if link[0] == here else link[0] if link[2] == here else ""
            if other and other not in seen:
                seen.add(other)
                line.append(other)
                found.append((other, link))
    return (base, found) if seen == names else None


def _say_once(tree: Any) -> None:  # noqa: ANN401
    """Take out conditions that were said already."""
    from sqlglot import exp

    where = tree.args.get("where")
    if where is None:
        return
    parts = {part.sql(): part for part in where.this.flatten()} if isinstance(where.this, exp.And) else {}
    if parts:
        tree.set("where", exp.Where(this=exp.and_(*(part.copy() for part in parts.values()), copy=False)))


def _show_keys(tree: Any) -> None:  # noqa: ANN401
    """Have the result show what it is grouped and ordered by."""
    from sqlglot import exp

    if tree.args.get("distinct"):
        return
    shown = {_bare(item) for item in tree.expressions}
    group = tree.args.get("group")
    missing = [key for key in (group.expressions if group else []) if _bare(key) not in shown]
    if missing and not any(isinstance(key, exp.Literal) for key in missing):
        tree.set("expressions", [*(key.copy() for key in missing), *tree.expressions])
    order = tree.args.get("order")
    shown = {_bare(item) for item in tree.expressions}
    for ordered in order.expressions if order else []:
        key = ordered.this
        named = isinstance(key, exp.Literal) or (isinstance(key, exp.Column) and not key.table)
        if not named and _bare(key) not in shown and not tree.is_star:
            tree.append("expressions", key.copy())


def _name_figures(tree: Any) -> None:  # noqa: ANN401
    """Give computed columns names that say what they are: ``sum_total``, ``count``, ``part_ordered_on``."""
    from sqlglot import exp

    names: set[str] = {item.alias_or_name.casefold() for item in tree.expressions}
    for item in list(tree.expressions):
        if isinstance(item, exp.Column | exp.Alias | exp.Star):
            continue
        columns = dict.fromkeys(column.name.lower() for column in item.find_all(exp.Column))
        kind = type(item).__name__.lower() if isinstance(item, exp.AggFunc) else "part"
        name = "_".join((kind, *columns))
        if name not in names and name.isidentifier():
            names.add(name)
            item.replace(exp.alias_(item.copy(), name, quoted=not name.isascii()))


def _bare(item: Any) -> str:  # noqa: ANN401
    return str(item.unalias().sql()).casefold()


def _table(name: str) -> Any:  # noqa: ANN401
    from sqlglot import exp

    schema, _, bare = name.rpartition(".")
    return exp.Table(this=_identifier(bare), db=_identifier(schema) if schema else None)


def _column(table: str, name: str) -> Any:  # noqa: ANN401
    from sqlglot import exp

    return exp.Column(this=_identifier(name), table=_identifier(table.rpartition(".")[2]))


def _identifier(name: str) -> Any:  # noqa: ANN401
    from sqlglot import exp

    from pipeline.sql.select_grammar import quoted

    return exp.to_identifier(name, quoted=quoted(name) != name)
