"""What a statement does, told in words from its parsed tree; nothing is said that the tree does not hold."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pipeline.sql.catalog import Catalog
from pipeline.sql.guard import Guarded
from pipeline.sql.labels import Labels
from pipeline.sql.russian import date_words, number_words
from pipeline.types import Language

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["explain_statement"]

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ].*)?")
_PATTERN = re.compile(r"(%?)([^%_]*)(%?)")


def explain_statement(guarded: Guarded, catalog: Catalog, language: Language) -> str:
    """One or two sentences, for a person who reads no SQL.

    Args:
        guarded: A statement that may run.
        catalog: What it was checked against; its notes and synonyms give the words.
        language: Of the reader.
    """
    teller = _Teller(catalog, language, limits_itself=guarded.limits_itself)
    words = teller.query(guarded.tree, outermost=True)
    return f"{words[:1].upper()}{words[1:]}."


class _Teller:
    def __init__(self, catalog: Catalog, language: Language, *, limits_itself: bool) -> None:
        self._labels = Labels(catalog, language)
        self._language = language
        self._limits_itself = limits_itself

    def query(self, tree: exp.Expr, *, outermost: bool = False) -> str:
        from sqlglot import exp

        while isinstance(tree, exp.Subquery):
            tree = tree.this
        if isinstance(tree, exp.SetOperation):
            first, second = self.query(tree.left), self.query(tree.right)
            told = self._labels.say("together", first=first, second=second)
        elif isinstance(tree, exp.Select):
            told = self._select(tree, outermost=outermost)
        else:
            told = tree.sql()
        steps = tree.args.get("with_") or tree.args.get("with")
        for cte in reversed(steps.expressions if steps else []):
            told = self._labels.say("first", name=cte.alias, told=self.query(cte.this), then=told)
        return told

    def _select(self, tree: exp.Select, *, outermost: bool) -> str:
        parts = [self._what(tree), self._from(tree)]
        if where := tree.args.get("where"):
            parts.append(self._labels.say("where", conditions=self._condition(where.this)))
        if group := tree.args.get("group"):
            named = [node for node in group.expressions if self._labels.kind(node) != "id"]
            groups = [self._group(node) for node in named or group.expressions]
            parts.append(self._labels.say("groups", groups=", ".join(groups)))
        if having := tree.args.get("having"):
            parts.append(self._labels.say("having", conditions=self._condition(having.this)))
        parts.append(self._order(tree))
        limit = tree.args.get("limit")
        if limit is not None and (self._limits_itself or not outermost):
            parts.append(self._labels.say("limit", rows=limit.expression.name))
        return "".join(parts)

    def _what(self, tree: exp.Select) -> str:
        from sqlglot import exp

        computed = any(item.find(exp.AggFunc) for item in tree.expressions)
        names = [self._labels.of(item).text or item.alias_or_name or item.sql() for item in tree.expressions]
        if computed:
            grouped = {
                node.sql() for node in (tree.args["group"].expressions if tree.args.get("group") else [])
            }
            names = [
                name
                for name, item in zip(names, tree.expressions, strict=True)
                if item.unalias().sql() not in grouped
            ] or names
        return self._labels.say("compute" if computed else "show", what=", ".join(dict.fromkeys(names)))

    def _from(self, tree: exp.Select) -> str:
        from sqlglot import exp

        source = tree.args.get("from_") or tree.args.get("from")
        if source is None:
            return ""
        nodes = [source.this, *(join.this for join in tree.args.get("joins") or [])]
        names = [
            self._labels.table(node.name) if isinstance(node, exp.Table) else f"({self.query(node)})"
            for node in nodes
        ]
        names = list(dict.fromkeys(names))
        if len(names) == 1:
            return self._labels.say("from", tables=names[0])
        return self._labels.say("from_several", tables=", ".join(f"«{name}»" for name in names))

    def _group(self, node: exp.Expr) -> str:
        if part := self._labels.part(node):
            return self._labels.say(part)
        return self._labels.say("each", name=self._bare(node))

    def _bare(self, node: exp.Expr) -> str:
        from sqlglot import exp

        return self._labels.column(node) if isinstance(node, exp.Column) else self._value(node)

    def _order(self, tree: exp.Select) -> str:
        order = tree.args.get("order")
        if order is None:
            return ""
        named = {item.alias: item.unalias() for item in tree.expressions if item.alias}
        first = order.expressions[0]
        names = []
        for item in order.expressions:
            inner = named.get(item.this.name, item.this) if not item.this.args.get("table") else item.this
            if not self._labels.part(inner):  # that times come in their order goes without saying
                names.append(self._labels.of(inner).text or self._value(inner))
        key = "largest" if first.args.get("desc") else "smallest"
        return self._labels.say(key, names=", ".join(names)) if names else ""

    def _condition(self, node: exp.Expr) -> str:
        from sqlglot import exp

        tellers: tuple[tuple[type[exp.Expr], Callable[..., str]], ...] = (
            (exp.And, lambda node: self._both("and", node)),
            (exp.Or, lambda node: self._both("or", node)),
            (exp.Paren, lambda node: self._condition(node.this)),
            (exp.Not, self._negated),
            (exp.Between, self._between),
            (exp.In, self._among),
            (exp.Exists, lambda node: self._labels.say("exists", told=self.query(node.this))),
            (exp.Is, lambda node: self._labels.say("missing", left=self._value(node.this))),
            (exp.Like, self._like),
            (exp.ILike, self._like),
            (exp.Binary, self._compared),
        )
        for kind, tell in tellers:
            if isinstance(node, kind):
                return tell(node)
        return self._value(node)

    def _both(self, key: str, node: exp.Binary) -> str:
        if key == "and" and (period := self._period(node)):
            return period
        return self._labels.say(key, left=self._condition(node.left), right=self._condition(node.right))

    def _period(self, node: exp.Binary) -> str:
        """``day >= a AND day < b`` as one period, at the end of a chain of conditions too."""
        from sqlglot import exp

        before, last = node.left, node.right
        first = before.right if isinstance(before, exp.And) else before
        if not (isinstance(first, exp.GTE) and isinstance(last, exp.LT) and first.left == last.left):
            return ""
        if not all(_DAY.fullmatch(str(end.right.name)) for end in (first, last)):
            return ""
        left, low, high = (self._value(part) for part in (first.left, first.right, last.right))
        told = self._labels.say("within", left=left, low=low, high=high)
        if isinstance(before, exp.And):
            return self._labels.say("and", left=self._condition(before.left), right=told)
        return told

    def _negated(self, node: exp.Not) -> str:
        from sqlglot import exp

        if isinstance(node.this, exp.Is):
            return self._labels.say("given", left=self._value(node.this.this))
        return self._labels.say("not", what=self._condition(node.this))

    def _between(self, node: exp.Between) -> str:
        low, high = self._value(node.args["low"]), self._value(node.args["high"])
        return self._labels.say("between", left=self._value(node.this), low=low, high=high)

    def _among(self, node: exp.In) -> str:
        left = self._value(node.this)
        if node.args.get("query"):
            return self._labels.say("selected", left=left, told=self.query(node.args["query"]))
        values = ", ".join(self._value(value) for value in node.expressions)
        return self._labels.say("among", left=left, values=values)

    def _like(self, node: exp.Binary) -> str:
        left, pattern = self._value(node.left), str(node.right.name)
        match = _PATTERN.fullmatch(pattern)
        if match is None or not match[3]:
            return self._labels.say("like", left=left, text=pattern)
        return self._labels.say("contains" if match[1] else "starts", left=left, text=match[2])

    def _compared(self, node: exp.Binary) -> str:
        from sqlglot import exp

        signs: tuple[tuple[type[exp.Expr], str], ...] = ((exp.EQ, "="), (exp.NEQ, "≠"))
        for kind, sign in signs:
            if isinstance(node, kind):
                right = self._value(node.right)
                if self._labels.kind(node.left) == "flag" and str(node.right) in ("0", "1"):
                    right = self._labels.told("yes" if str(node.right) == "1" else "no")
                return f"{self._value(node.left)} {sign} {right}"
        dated = _DAY.fullmatch(str(node.right.name)) is not None
        keys: Sequence[tuple[type[exp.Expr], str, str]] = (
            (exp.GTE, "from_on", "since"),
            (exp.GT, "more", "after"),
            (exp.LTE, "up_to", "through"),
            (exp.LT, "less", "before"),
        )
        for kind, plain, of_time in keys:
            if isinstance(node, kind):
                key = of_time if dated else plain
                return self._labels.say(key, left=self._value(node.left), right=self._value(node.right))
        return node.sql()

    def _value(self, node: exp.Expr) -> str:
        from sqlglot import exp

        if isinstance(node, exp.Literal):
            return _literal(node, self._language)
        if isinstance(node, exp.Subquery | exp.Select):
            return f"({self.query(node)})"
        if isinstance(node, exp.Lower | exp.Upper | exp.Paren | exp.Cast):
            return self._value(node.this)
        if isinstance(node, exp.Boolean):
            return self._labels.told("yes" if node.this else "no")
        return self._labels.of(node).text or node.sql()


def _literal(node: exp.Literal, language: Language) -> str:
    value = str(node.this)
    if not node.is_string:
        return number_words(float(value), language) if re.fullmatch(r"\d+(\.\d+)?", value) else value
    if day := _DAY.fullmatch(value):
        try:
            return date_words(dt.date(int(day[1]), int(day[2]), int(day[3])), language)
        except ValueError:
            return value
    return f"«{value}»" if language == "ru" else f'"{value}"'
