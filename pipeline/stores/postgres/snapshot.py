"""One version of a base, seen through one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.fusion import Fusion
from pipeline.index import Calibration, Manifest
from pipeline.snapshot import Asked, Excerpt, Pool
from pipeline.stores.postgres.binary import register
from pipeline.stores.postgres.excerpt import excerpt_of
from pipeline.stores.postgres.filters import Condition, condition_of
from pipeline.stores.postgres.ranking_sql import Statement, pool_statement, quoted
from pipeline.stores.postgres.rows import chunk_from_row, document_from_row
from pipeline.stores.postgres.schema import configurations, in_schema, small_letters
from pipeline.stores.postgres.state import Statistics, Version
from pipeline.stores.postgres.texts import to_postgres
from pipeline.types import Chunk, Document, Filter, SearchMode

if TYPE_CHECKING:
    from pipeline.stores.postgres.connect import Connection

__all__ = ["EXACT_ROWS", "TELLING_ROWS", "PostgresSnapshot"]

EXACT_ROWS = 20_000
"""Where no more rows may be ranked, all of them are compared: as quick as the graph, and misses nothing."""
TELLING_ROWS = 5_000
"""Rows that are ranked by words: each is fetched and looked through, 0.01 ms."""
LOOK_AHEAD = 4
"""Copies of one file must not fill the list: so many times more rows are looked at, again and again."""
_NOTHING = {"looked": 0, "dense": 0, "matches": 0, "worded": 0}
_MOST_LOOKED = 1000
"""pgvector's ``hnsw.ef_search`` is no higher."""


class PostgresSnapshot:
    """A `pipeline.snapshot.Snapshot` within a REPEATABLE READ transaction.

    Args:
        connection: In that transaction, which has seen this version.
        version: What it sees.
        schema: The schema of the base.
        search: Care in searching along the graph, see the setting ``store.hnsw_search``.
        exact_rows: See `EXACT_ROWS`.
    """

    def __init__(
        self,
        connection: Connection,
        version: Version,
        schema: str,
        *,
        search: int = 256,
        exact_rows: int = EXACT_ROWS,
    ) -> None:
        self._connection = connection
        self._version = version
        self._schema = schema
        self._search = search
        self._exact_rows = exact_rows
        register(connection)

    @property
    def manifest(self) -> Manifest:
        """What it was made from."""
        return self._version.manifest

    @property
    def calibration(self) -> Calibration | None:
        """Of refusal."""
        return self._version.calibration

    @property
    def statistics(self) -> Statistics:
        """Of all chunks."""
        return Statistics(self._connection, self._version, self._schema)

    def candidates(
        self, asked: Asked, wanted: Filter | None, *, mode: SearchMode, fusion: Fusion, count: int
    ) -> Excerpt:
        """The best by meaning, by words, or by both; see `pipeline.snapshot.Snapshot`."""
        condition = condition_of(wanted)
        allowed = self._allowed(condition)
        look, exact = count * LOOK_AHEAD, allowed <= self._exact_rows
        words, every = self._telling(asked, every=allowed <= TELLING_ROWS)
        while True:
            statement = self.statement(
                asked, condition, words, mode=mode, fusion=fusion, count=count, look=look, exact=exact
            )
            found = self._ranked(statement, look)
            seen = found[0] if found else _NOTHING
            copies = any(
                seen[different] < count and seen[looked] >= look
                for looked, different in (("looked", "dense"), ("matches", "worded"))
            )
            # A graph that gave less than there is has given up.
            gave_up = not exact and mode != "keyword" and seen["looked"] < min(look, allowed)
            # No row that may be ranked holds a telling word: then the others tell.
            wordless = not every and mode != "dense" and seen["worded"] < (count if mode == "keyword" else 1)
            if not (copies or gave_up or wordless):
                return self._excerpt(found)
            exact = exact or gave_up
            words, every = self._telling(asked, every=every or wordless)
            look *= LOOK_AHEAD if copies else 1

    def statement(
        self,
        asked: Asked,
        condition: Condition,
        words: str | None,
        *,
        mode: SearchMode,
        fusion: Fusion,
        count: int,
        look: int,
        exact: bool,
    ) -> Statement:
        """The one statement that finds the candidates, with its parameters.

        Args:
            asked: The question.
            condition: What candidates must meet.
            words: A tsquery: what a row must hold to be ranked by words; None for nothing.
            mode: One of both searches, or both.
            fusion: How they are joined.
            count: How many each of them contributes.
            look: How many rows each of them looks at, copies among them.
            exact: Compare all rows that may be ranked, and not along the graph.
        """
        question = to_postgres(small_letters(asked.text))
        made = pool_statement(
            asked.terms,
            condition,
            mode=mode,
            fusion=fusion,
            exact=exact,
            mean_length=self._version.mean_length,
            all_words=bool(asked.terms),
        )
        bound = {
            "vector": "[" + ",".join(map(repr, np.nan_to_num(asked.vector).tolist())) + "]",
            "rare": words,
            "question": question,
            "look": look,
            "count": count,
        }
        return Statement(made.sql, made.values | bound)

    def listing(self, wanted: Filter | None, count: int) -> Excerpt:
        """The first chunks in document order; see `pipeline.snapshot.Snapshot`."""
        condition = condition_of(wanted)
        found = self._connection.execute(
            in_schema(
                f"SELECT no, 0.0 AS cosine, 0.0 AS keyword, 0.0 AS fused FROM {{schema}}.chunks"
                f" WHERE {condition.sql} ORDER BY file, document_id, ordinal, id LIMIT %(count)s",
                self._schema,
            ),
            condition.values | {"count": count},
        ).fetchall()
        return self._excerpt(found)

    def _excerpt(self, found: Sequence[dict[str, Any]]) -> Excerpt:
        numbers = [row["no"] for row in found]
        return excerpt_of(self._connection, self._schema, self._version, _pool(found), numbers)

    def chunk(self, chunk_id: str) -> Chunk | None:
        """The chunk of this id, if there is one."""
        row = self._first("SELECT * FROM {schema}.chunks WHERE id = %s ORDER BY source LIMIT 1", chunk_id)
        return None if row is None else chunk_from_row(row)

    def document(self, document_id: str) -> Document | None:
        """The document of this id, if there is one."""
        row = self._first(
            "SELECT * FROM {schema}.documents WHERE id = %s ORDER BY source LIMIT 1", document_id
        )
        return None if row is None else document_from_row(row)

    def _first(self, statement: str, name: str) -> dict[str, Any] | None:
        return self._connection.execute(in_schema(statement, self._schema), [to_postgres(name)]).fetchone()

    def _allowed(self, condition: Condition) -> int:
        """How many rows may be ranked; no more are counted than matter."""
        if condition.everything or self._version.chunks <= self._exact_rows:
            return self._version.chunks
        statement = in_schema(
            f"SELECT count(*) AS n FROM (SELECT FROM {{schema}}.chunks WHERE {condition.sql}"
            " LIMIT %(most)s) AS allowed",
            self._schema,
        )
        row = self._connection.execute(
            statement, condition.values | {"most": self._exact_rows + 1}
        ).fetchone()
        return row["n"] if row is not None else 0

    def _telling(self, asked: Asked, *, every: bool) -> tuple[str | None, bool]:
        """Terms of which a row must hold one to be ranked by words, as a tsquery; None for none.

        Rarest first, as long as all together are held by not too many rows, or every one. A word that half
        the base holds decides nothing there, but it counts in the order of what rarer words have found.

        Returns:
            The tsquery, and whether every term of the question that the base knows is in it.
        """
        known = self.statistics
        words = {word for term in asked.terms for word, _ in term.found_as}
        held = sorted((known.holding(word) or 0, word) for word in words)
        taken: list[str] = []
        rows = 0
        for number, word in held:
            rows += number
            if taken and rows > TELLING_ROWS and not every:
                return " | ".join(taken), False
            if number:
                taken.append(quoted(to_postgres(word)))
        return " | ".join(taken) or None, True

    def explain(
        self, asked: Asked, wanted: Filter | None, *, mode: SearchMode, fusion: Fusion, count: int
    ) -> list[str]:
        """The plan of a search as the server carries it out, with times and buffers."""
        condition = condition_of(wanted)
        look = count * LOOK_AHEAD
        allowed = self._allowed(condition)
        words, _ = self._telling(asked, every=allowed <= TELLING_ROWS)
        exact = allowed <= self._exact_rows
        made = self.statement(
            asked, condition, words, mode=mode, fusion=fusion, count=count, look=look, exact=exact
        )
        explained = Statement(f"EXPLAIN (ANALYZE, BUFFERS) {made.sql}", made.values)
        return [row["QUERY PLAN"] for row in self._ranked(explained, look)]

    def _ranked(self, statement: Statement, look: int) -> list[dict[str, Any]]:
        care = str(min(_MOST_LOOKED, max(self._search, look)))
        self._connection.execute("SELECT set_config('hnsw.ef_search', %s, true)", [care])
        with_names = in_schema(statement.sql, self._schema, **configurations(self._schema))
        return self._connection.execute(with_names, statement.values).fetchall()


def _pool(found: Sequence[dict[str, Any]]) -> Pool:
    """The pool of an excerpt whose rows are in the order of what was found."""
    columns = (
        np.array([row[name] for row in found], dtype=np.float32) for name in ("cosine", "keyword", "fused")
    )
    cosine, keyword, fused = columns
    return Pool(tuple(range(len(found))), cosine, keyword, fused)
