"""Rows of a base as an index of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pipeline.index import Index
from pipeline.snapshot import Excerpt, Pool
from pipeline.stores.postgres.binary import terms_from, vectors_from
from pipeline.stores.postgres.rows import chunk_from_row, document_from_row, quantised_from
from pipeline.stores.postgres.schema import in_schema
from pipeline.stores.postgres.state import Version
from pipeline.stores.postgres.texts import ESCAPE
from pipeline.stores.token_store import GatheredTokens, QuantisedText, starts_of
from pipeline.text.postings import build_postings

if TYPE_CHECKING:
    from pipeline.stores.postgres.connect import Connection

__all__ = ["HEAD", "LOOKED_AT", "excerpt_of"]

LOOKED_AT = 24
"""Candidates whose token vectors come along; late interaction looks at 20 unless it is told otherwise."""

HEAD = 4000
"""Of a long document an excerpt holds so many characters, and all up to the end of its last passage here."""

_CHUNKS = """
SELECT c.source, c.id, c.document_id, c.ordinal, c.file, c.topic, c.text, c.starts, c.ends, c.headings,
    c.link, c.tags, c.page, c.words, c.embedding, c.text_embedding,
    octet_length(c.spans) / 8 AS length
FROM unnest(%s::bigint[]) WITH ORDINALITY AS wanted (no, place) JOIN {schema}.chunks AS c USING (no)
ORDER BY wanted.place
"""
_TOKENS = "SELECT no, tokens, spans FROM {schema}.chunks WHERE no = ANY (%s)"
_DOCUMENTS = """
SELECT id, file, title, link, tags, metadata, left(text, seen) AS text,
    CASE WHEN length(text) <= seen THEN blocks ELSE '[]' END AS blocks
FROM {schema}.documents
JOIN (
    SELECT source, id, greatest(max(ends), %(head)s) AS seen
    FROM unnest(%(sources)s::text[], %(ids)s::text[], %(ends)s::int[]) AS one (source, id, ends)
    GROUP BY source, id
) AS wanted USING (source, id)
"""


def excerpt_of(
    connection: Connection, schema: str, version: Version, pool: Pool, numbers: Sequence[int]
) -> Excerpt:
    """The rows of a pool with all that later stages ask of them.

    Args:
        connection: In the transaction of the snapshot.
        schema: The schema of the base.
        version: Of the base.
        pool: Rows ``0, 1, 2, …``.
        numbers: Which rows of `chunks` these are.
    """
    with connection.cursor(binary=True) as cursor:
        rows = cursor.execute(in_schema(_CHUNKS, schema), [list(numbers)]).fetchall()
    asked = {
        "head": HEAD,
        "sources": [row["source"] for row in rows],
        "ids": [row["document_id"] for row in rows],
        # What PostgreSQL cannot hold takes five characters there, see `texts`.
        "ends": [row["ends"] * (5 if ESCAPE in row["text"] else 1) for row in rows],
    }
    documents = connection.execute(in_schema(_DOCUMENTS, schema), asked).fetchall()
    chunks = tuple(map(chunk_from_row, rows))
    dimension = version.manifest.dimension
    return Excerpt(
        Index(
            manifest=version.manifest,
            chunks=chunks,
            documents={row["id"]: document_from_row(row) for row in documents},
            vectors=vectors_from([row["embedding"] for row in rows], dimension),
            text_vectors=vectors_from([row["text_embedding"] for row in rows], dimension),
            tokens=GatheredTokens(
                starts_of([row["length"] for row in rows]),
                _Tokens(connection, schema, numbers, dimension),
                known=None,
                known_rows=np.full(len(rows), -1, dtype=np.int64),
            ),
            postings=build_postings([terms_from(row["words"]) for row in rows]),
            calibration=version.calibration,
        ),
        pool,
    )


class _Tokens:
    """Token vectors of the rows of an excerpt: the first ones at once, the others when one is asked for.

    They are most of a row, and what is far down the list is seldom looked at.
    """

    def __init__(self, connection: Connection, schema: str, numbers: Sequence[int], dimension: int) -> None:
        self._connection = connection
        self._statement = in_schema(_TOKENS, schema)
        self._numbers = numbers
        self._dimension = dimension
        self._known: dict[int, QuantisedText] = {}
        self._load(numbers[:LOOKED_AT])

    def __call__(self, row: int) -> QuantisedText:
        number = self._numbers[row]
        if number not in self._known:
            self._load(self._numbers)
        return self._known[number]

    def _load(self, numbers: Sequence[int]) -> None:
        missing = [number for number in numbers if number not in self._known]
        with self._connection.cursor(binary=True) as cursor:
            for row in cursor.execute(self._statement, [missing]) if missing else ():
                self._known[row["no"]] = quantised_from(row, self._dimension)
