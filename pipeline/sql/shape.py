"""What a statement is built of: every node of its tree, and how large it becomes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pipeline.sql.allowed import TYPES, function_names, node_names
from pipeline.sql.catalog import Dialect
from pipeline.sql.refusal import refused

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["MAX_CHARACTERS", "check_growth", "check_nodes", "is_count", "kind_words"]

MAX_CHARACTERS = 10_000
MAX_NODES = 1500
_MAX_DEPTH = 120
_MAX_WIDTH = 1000


def kind_words(node: exp.Expr) -> str:
    """What a node is called before people: ``FOR UPDATE`` is a LOCK."""
    from sqlglot import exp

    if isinstance(node, exp.Command):
        return str(node.this).upper()
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).upper()


def check_nodes(tree: exp.Query, dialect: Dialect) -> None:
    """Look at every node.

    Raises:
        StatementRefusedError: One is not of the kinds of `pipeline.sql.allowed`, or there are too many.
    """
    from sqlglot import exp

    known, functions = node_names(dialect), function_names(dialect)
    for count, node in enumerate(tree.walk(), start=1):
        if count > MAX_NODES or node.depth > _MAX_DEPTH:
            raise refused("too_long", limit=MAX_CHARACTERS)
        name = type(node).__name__
        if isinstance(node, exp.Anonymous):
            if str(node.this).lower() not in functions or not isinstance(node.this, str):
                raise refused("function", name=str(node.this)[:60])
        elif name not in known:
            kind = "function" if isinstance(node, exp.Func) else "part"
            raise refused(kind, name=node.sql_name() if isinstance(node, exp.Func) else kind_words(node))
        _check_node(node)


def check_growth(tree: exp.Query) -> None:
    """Names of the select list are put in where they are used: ``a+a AS b, b+b AS c, …`` doubles each time.

    Raises:
        StatementRefusedError: The statement would become too large.
    """
    from sqlglot import exp

    for select in tree.find_all(exp.Select):
        sizes: dict[str, int] = {}
        for item in select.expressions:
            size = _grown(item, sizes)
            if isinstance(item, exp.Alias):
                sizes[item.alias.lower()] = size
        clauses = (select.args.get(name) for name in ("where", "group", "having", "order", "qualify"))
        if sum(_grown(clause, sizes) for clause in clauses if clause is not None) > MAX_NODES:
            raise refused("too_long", limit=MAX_CHARACTERS)


def _grown(node: exp.Expr, sizes: Mapping[str, int]) -> int:
    """Nodes of a part once names of the select list have been put in."""
    from sqlglot import exp

    size = 0
    for inner in node.walk():
        size += 1
        if isinstance(inner, exp.Column) and not inner.table:
            size += sizes.get(inner.name.lower(), 0)
        if size > MAX_NODES:
            raise refused("too_long", limit=MAX_CHARACTERS)
    return size


def _check_node(node: exp.Expr) -> None:
    """What a node of an allowed kind may not be all the same."""
    from sqlglot import exp

    if isinstance(node, exp.With) and node.args.get("recursive"):
        raise refused("recursive")
    if isinstance(node, exp.Table) and (not isinstance(node.this, exp.Identifier) or node.args.get("joins")):
        raise refused("part", name=kind_words(node.this)[:60])
    if isinstance(node, exp.Join) and str(node.args.get("method") or "").upper() == "NATURAL":
        raise refused("part", name="NATURAL JOIN")
    if isinstance(node, exp.Distinct) and node.args.get("on"):
        raise refused("part", name="DISTINCT ON")
    if isinstance(node, exp.DataType) and (node.this.name not in TYPES or node.args.get("kind")):
        raise refused("type", name=node.sql()[:60])
    if isinstance(node, exp.DataTypeParam) and (not is_count(node.this) or int(node.name) > _MAX_WIDTH):
        raise refused("type", name=node.parent.sql()[:60] if node.parent else "")
    if isinstance(node, exp.Star) and not _is_plain_star(node):
        raise refused("part", name="*")
    if isinstance(node, exp.Var) and not isinstance(node.parent, exp.Extract | exp.Interval | exp.Func):
        raise refused("part", name=node.name[:60])
    if isinstance(node, exp.Offset | exp.Limit) and not is_count(node.expression):
        raise refused("part", name=kind_words(node))


def _is_plain_star(node: exp.Star) -> bool:
    """A star of a select list or of ``count(*)``, without EXCEPT and the like."""
    from sqlglot import exp

    if any(node.args.values()):
        return False
    parent = node.parent
    if isinstance(parent, exp.Column):
        return isinstance(parent.parent, exp.Select) and parent.arg_key == "expressions"
    return isinstance(parent, exp.Count) or (isinstance(parent, exp.Select) and node.arg_key == "expressions")


def is_count(node: exp.Expr | None) -> bool:
    """True for a whole number written in digits."""
    from sqlglot import exp

    return isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit()
