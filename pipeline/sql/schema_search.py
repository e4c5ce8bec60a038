"""How much each table of a schema has to do with a question, told by words, by meaning, or by both.

What tables are called is read from the catalog: nothing here knows any particular database.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Literal

import numpy as np

from pipeline.ports import Embedder
from pipeline.sql.alike import known_as
from pipeline.sql.catalog import Catalog, Table
from pipeline.sql.names import called_terms, column_terms, table_terms
from pipeline.sql.table_vectors import TableVectors
from pipeline.text.function_words import function_terms
from pipeline.text.stems import keyword_terms

__all__ = ["SchemaSearch", "Scores", "chroma", "dense", "hybrid", "keyword", "nothing"]

NAMED = 0.5
"""Share of the best score that a table gets whose name is said."""

MEANING = 0.5
"""What nearness in meaning counts for, beside words."""

_TABLE_WEIGHT, _VALUE_WEIGHT, _NOTE_WEIGHT, _COLUMN_WEIGHT = 2.0, 1.5, 1.5, 1.0

Scores = Mapping[str, float]


@dataclass(slots=True)
class SchemaSearch:
    """What the strategies share: the catalog's words, and an embedder for those that compare meanings.

    Safe to use from many threads; copies made by ``dataclasses.replace`` share their vectors.

    Attributes:
        embedder: None where there is none: strategies that need one do as ``keyword``.
        named: Tables of which the question names a stored value.
    """

    catalog: Catalog
    embedder: Embedder | None = None
    named: Collection[str] = ()
    vectors: dict[str, TableVectors] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def nearness(self, question: str) -> float:
        """Cosine of the question with the table that is nearest in meaning; 0 without an embedder."""
        if self.embedder is None:
            return 0.0
        return self.near(self.embedder, question, "faiss")[1][0]

    def near(
        self, embedder: Embedder, question: str, engine: Literal["faiss", "chroma"]
    ) -> tuple[Sequence[str], Sequence[float]]:
        """Tables, the nearest in meaning first, with their cosines; the schema is embedded once."""
        with self.lock:  # who comes meanwhile waits, instead of embedding it again
            if engine not in self.vectors:
                self.vectors[engine] = TableVectors(self.catalog, embedder, engine)
        return self.vectors[engine].nearest(question)


def nothing(search: SchemaSearch, question: str) -> Scores:
    """No scores: the whole schema is shown."""
    return {}


def keyword(search: SchemaSearch, question: str) -> dict[str, float]:
    """Rare words of a schema that the question says, weighed by where they stand (after BM25's idf)."""
    fields = {table.name: _words_of(table) for table in search.catalog.tables.values()}
    having = Counter(term for weights in fields.values() for term in weights)
    said = [term for term in dict.fromkeys(keyword_terms(question)) if term not in function_terms()]
    words = dict.fromkeys(known for term in said for known in known_as(term, having))
    count = len(fields)
    scores = dict.fromkeys(fields, 0.0)
    for name, weights in fields.items():
        for word in words:
            if word in weights:
                rarity = math.log(1 + (count - having[word] + 0.5) / (having[word] + 0.5))
                scores[name] += weights[word] * rarity
    # A table that is called by its name is meant, however little else of it is said.
    least = NAMED * max(scores.values(), default=0.0)
    for name, table in search.catalog.tables.items():
        if called_terms(table) & words.keys():
            scores[name] = max(scores[name], least)
    return scores


def dense(search: SchemaSearch, question: str) -> dict[str, float]:
    """Tables whose description means what the question means."""
    return _by_meaning(search, question, "faiss")


def chroma(search: SchemaSearch, question: str) -> dict[str, float]:
    """The same, out of a collection of Chroma in memory."""
    return _by_meaning(search, question, "chroma")


def hybrid(search: SchemaSearch, question: str) -> dict[str, float]:
    """Words and meaning, each as a share of its best table; the better of both counts, words more."""
    by_word, by_meaning = keyword(search, question), dense(search, question)
    best_word = max(by_word.values(), default=0.0) or 1.0
    best_meaning = max(by_meaning.values(), default=0.0) or 1.0
    return {
        name: max(by_word.get(name, 0.0) / best_word, MEANING * by_meaning.get(name, 0.0) / best_meaning)
        for name in search.catalog.tables
    }


def _by_meaning(search: SchemaSearch, question: str, engine: Literal["faiss", "chroma"]) -> dict[str, float]:
    if search.embedder is None:
        return keyword(search, question)
    names, cosines = search.near(search.embedder, question, engine)
    return _above_the_rest(names, cosines)


def _above_the_rest(names: Sequence[str], cosines: Sequence[float]) -> dict[str, float]:
    """Cosines of short texts lie close together: what counts is how far a table stands out."""
    values = np.asarray(cosines, dtype=np.float64)
    if len(values) < 3:
        return dict(zip(names, map(float, values), strict=True))
    middle, spread = float(np.median(values)), float(values.std()) or 1.0
    return {
        name: max(0.0, (float(value) - middle) / spread) for name, value in zip(names, values, strict=True)
    }


def _words_of(table: Table) -> dict[str, float]:
    """Term -> weight of the best place where a table has it."""
    weights: dict[str, float] = {}
    for column in table.columns:
        if column.kind == "category":
            for term in {term for value in column.values for term in keyword_terms(value)}:
                weights[term] = max(weights.get(term, 0.0), _VALUE_WEIGHT)
        for term in column_terms(column):
            weights[term] = max(weights.get(term, 0.0), _COLUMN_WEIGHT)
    for term in table_terms(table):
        weights[term] = max(weights.get(term, 0.0), _NOTE_WEIGHT)
    for term in called_terms(table):
        weights[term] = _TABLE_WEIGHT
    return weights
