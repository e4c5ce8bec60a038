"""Whether a statement may run, decided over its parsed tree; what runs is written anew from that tree.

One SELECT, over declared tables and columns, built of nodes and functions that `pipeline.sql.allowed`
names; comments, parameters, locks, recursion and commands never reach the database.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pipeline.errors import ExtraMissingError, StatementRefusedError
from pipeline.sql.catalog import Catalog, Dialect
from pipeline.sql.refusal import refused
from pipeline.sql.shape import MAX_CHARACTERS, check_growth, check_nodes, is_count, kind_words
from pipeline.sql.writing import shortened

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.errors import ErrorLevel

__all__ = ["Guarded", "guard"]


@dataclass(frozen=True, slots=True)
class Guarded:
    """A statement that may run.

    Attributes:
        sql: What runs, written from ``tree``.
        tree: The same, every column with its table, every star spelled out.
        tables: Tables of the catalog that it reads, in order of their names.
        columns: (table, column) pairs that it reads, in order.
        limit: Rows it gives at most; one more than are shown where the limit is ours.
        limits_itself: The limit is the statement's own.
    """

    sql: str
    tree: exp.Query
    tables: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    limit: int
    dialect: Dialect
    limits_itself: bool = False


def guard(statement: str, catalog: Catalog, rows: int = 1000) -> Guarded:
    """Check a statement and write it anew.

    Args:
        statement: SQL, of a model or a person.
        catalog: Allowed tables and columns; names are compared without regard to case.
        rows: Rows shown at most; the statement asks for one more, to see whether there are more.

    Raises:
        StatementRefusedError: It may not run; ``values["reason"]`` is a ``Phrase`` that says why.
        ExtraMissingError: sqlglot is not installed.
    """
    try:
        from sqlglot.errors import SqlglotError
    except ImportError as error:
        raise ExtraMissingError(package="sqlglot", extra="sql") from error
    from pipeline.sql.resolve import Resolver

    _hush()
    try:
        tree = _parsed(statement, catalog.dialect)
        check_nodes(tree, catalog.dialect)
        check_growth(tree)
        resolver = Resolver(catalog)
        tree = resolver.resolve(tree)
        limit = _limit(tree, rows + 1)
        check_nodes(tree, catalog.dialect)
        found = resolver.reads(tree)
        sql = _written(shortened(tree), catalog.dialect)
        # What is written must mean one SELECT again, or the writer and the reader disagree.
        check_nodes(_parsed(sql, catalog.dialect), catalog.dialect)
    except SqlglotError as error:
        raise _explained(error) from error
    except RecursionError as error:
        raise refused("too_long", limit=MAX_CHARACTERS) from error
    tables = tuple(sorted({table for table, _ in found}))
    columns = tuple(sorted(pair for pair in found if pair[1]))
    return Guarded(sql, tree, tables, columns, limit, catalog.dialect, limit <= rows)


@cache
def _hush() -> None:
    """The parser warns on the log of everything that is refused here anyway."""
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


def _parsed(statement: str, dialect: Dialect) -> exp.Query:
    import sqlglot
    from sqlglot import exp

    if len(statement) > MAX_CHARACTERS:
        raise refused("too_long", limit=MAX_CHARACTERS)
    if "\x00" in statement:
        raise refused("syntax", detail="NUL")
    trees = [tree for tree in sqlglot.parse(statement, dialect=dialect) if tree is not None]
    trees = [tree for tree in trees if not isinstance(tree, exp.Semicolon)]
    if len(trees) != 1:
        raise refused("several" if trees else "nothing")
    tree = trees[0]
    while isinstance(tree, exp.Subquery) and tree.is_wrapper:
        tree = tree.this
    if not isinstance(tree, exp.Select | exp.SetOperation):
        raise refused("not_select", what=kind_words(tree))
    return tree.copy()


def _limit(tree: exp.Query, highest: int) -> int:
    """Add a limit to the whole statement, or lower the one it has."""
    from sqlglot import exp

    given = tree.args.get("limit")
    if isinstance(given, exp.Fetch):
        options = given.args.get("limit_options")
        for word in ("with_ties", "percent"):
            if options is not None and options.args.get(word):
                raise refused("part", name=word.replace("_", " ").upper())
        count = given.args.get("count")
    else:
        count = given.expression if given is not None else None
    if count is not None and not is_count(count):
        raise refused("part", name="LIMIT")
    limit = min(int(count.name), highest) if count is not None else highest
    tree.set("limit", exp.Limit(expression=exp.Literal.number(limit)))
    return limit


def _written(tree: exp.Query, dialect: Dialect) -> str:
    return tree.sql(dialect=dialect, comments=False, unsupported_level=_raise())


def _raise() -> ErrorLevel:
    from sqlglot.errors import ErrorLevel

    return ErrorLevel.RAISE


def _explained(error: Exception) -> StatementRefusedError:
    detail = str(error).splitlines()[0] if str(error) else type(error).__name__
    return refused("syntax", detail=re.sub(r"\x1b\[\d+m", "", detail)[:200].rstrip("."))
