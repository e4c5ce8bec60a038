"""Examples that come nearest to a question: the owner's own, and simple ones made for the tables at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.ports import Embedder
from pipeline.sql.catalog import Catalog, Table
from pipeline.sql.excerpt import Excerpt
from pipeline.sql.select_grammar import column_name, table_name
from pipeline.text.function_words import function_terms
from pipeline.text.stems import keyword_terms

__all__ = ["made_examples", "nearest_examples"]

COUNT = 3
"""Examples that a prompt shows."""


def nearest_examples(
    question: str, catalog: Catalog, excerpt: Excerpt, embedder: Embedder | None = None, count: int = COUNT
) -> list[tuple[str, str]]:
    """The owner's examples nearest to a question, the nearest one last; filled up with made ones.

    Without an embedder they are compared by their words.
    """
    own = list(catalog.examples)
    order = _by_meaning(question, [asked for asked, _ in own], embedder) if own else []
    chosen = [own[place] for place in order[:count]]
    chosen += list(made_examples(excerpt))[: max(0, count - len(chosen))]
    return chosen[::-1]


def made_examples(excerpt: Excerpt) -> Iterator[tuple[str, str]]:
    """Simple questions about the first tables of an excerpt, with the statements that answer them."""
    tables = {table.name: table for table in excerpt.tables}
    for table in excerpt.tables:
        for key in table.foreign:
            label = _label(tables[key.table]) if key.table in tables else ""
            if label:
                link = f"{column_name(table.name, key.column)} = {column_name(key.table, key.target)}"
                yield (
                    f"{_called(table)}: сколько на каждое значение «{_called(tables[key.table])}»?",
                    _statement(
                        f"{label}, COUNT(*)",
                        f"{table_name(table.name)} JOIN {table_name(key.table)} ON {link} GROUP BY {label}",
                    ),
                )
                break
    for table in excerpt.tables:
        number = next((column for column in table.columns if column.kind == "number"), None)
        if number is not None:
            name = column_name(table.name, number.name)
            yield (
                f"{_called(table)}: сумма «{number.note or number.name}»?",
                _statement(f"SUM({name})", table_name(table.name)),
            )
    for table in excerpt.tables:
        yield f"{_called(table)}: сколько всего?", _statement("COUNT(*)", table_name(table.name))


def _statement(what: str, source: str) -> str:
    return f"SELECT {what} FROM {source}"  # noqa: S608 - for the model to read; it is never run


def _called(table: Table) -> str:
    return table.note or (table.synonyms[0] if table.synonyms else table.name)


def _label(table: Table) -> str:
    column = next((column for column in table.columns if column.kind in ("category", "other")), None)
    return column_name(table.name, column.name) if column else ""


def _by_meaning(question: str, texts: Sequence[str], embedder: Embedder | None) -> list[int]:
    """Places of the texts, nearest first."""
    if embedder is None:
        words = set(keyword_terms(question)) - function_terms()
        shared = [len(words & set(keyword_terms(text))) / (1 + len(text.split())) ** 0.5 for text in texts]
        return sorted(range(len(texts)), key=lambda place: (-shared[place], place))
    vectors = embedder.encode([question[:1000], *(text[:1000] for text in texts)], "query").vectors
    return [int(place) for place in np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")]
