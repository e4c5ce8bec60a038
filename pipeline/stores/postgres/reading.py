"""A whole base as an index in memory, for another store to be filled with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.index import Index
from pipeline.stores.postgres.binary import register, vectors_from
from pipeline.stores.postgres.rows import chunk_from_row, document_from_row, quantised_from
from pipeline.stores.postgres.schema import in_schema
from pipeline.stores.postgres.state import Version
from pipeline.stores.token_store import QuantisedText, pack_tokens
from pipeline.text.postings import chunk_postings
from pipeline.types import Chunk, Document

if TYPE_CHECKING:
    from pipeline.stores.postgres.connect import Connection

__all__ = ["read_index"]

_BATCH = 500

_CHUNKS = """
SELECT c.id, c.document_id, c.ordinal, c.file, c.topic, c.text, c.starts, c.ends, c.headings, c.link,
    c.tags, c.page, c.embedding, c.text_embedding, c.tokens, c.spans
FROM {schema}.chunks AS c JOIN {schema}.documents AS d ON d.source = c.source AND d.id = c.document_id
ORDER BY c.source, d.place, c.ordinal, c.id
"""


def read_index(connection: Connection, version: Version, schema: str) -> Index:
    """All sources, one after another, in the order of their documents; a chunk of two sources once.

    Args:
        connection: In a transaction that sees this version.
        version: What it sees.
        schema: The schema of the base.
    """
    register(connection)
    dimension = version.manifest.dimension
    chunks: dict[str, Chunk] = {}
    vectors: list[bytes] = []
    text_vectors: list[bytes] = []
    tokens: list[QuantisedText] = []
    with connection.cursor(name="otvet_read", binary=True) as cursor:
        cursor.itersize = _BATCH
        for row in cursor.execute(in_schema(_CHUNKS, schema)):
            if row["id"] in chunks:
                continue
            chunks[row["id"]] = chunk_from_row(row)
            vectors.append(row["embedding"])
            text_vectors.append(row["text_embedding"])
            tokens.append(quantised_from(row, dimension))
    documents: dict[str, Document] = {}
    with connection.cursor(name="otvet_read") as cursor:
        statement = "SELECT * FROM {schema}.documents ORDER BY source, place"
        for row in cursor.execute(in_schema(statement, schema)):
            documents.setdefault(row["id"], document_from_row(row))
    listed = tuple(chunks.values())
    return Index(
        manifest=version.manifest,
        chunks=listed,
        documents=documents,
        vectors=vectors_from(vectors, dimension),
        text_vectors=vectors_from(text_vectors, dimension),
        tokens=pack_tokens(tokens, dimension),
        postings=chunk_postings(listed),
        calibration=version.calibration,
    )
