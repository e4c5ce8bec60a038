"""Chunks and documents as rows: what is sent, what is compared, what comes back."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
from numpy.typing import NDArray

from pipeline.index import Index, Postings, TokenStore
from pipeline.stores import records
from pipeline.stores.postgres.binary import Terms, Vector
from pipeline.stores.postgres.difference import BODY
from pipeline.stores.postgres.texts import from_postgres, to_postgres
from pipeline.stores.token_store import QuantisedText, quantise
from pipeline.text.conditions import labels_of, source_type_of, value_form
from pipeline.text.document_dates import document_day
from pipeline.types import Chunk, Document

if TYPE_CHECKING:
    from psycopg.types.json import Jsonb

__all__ = [
    "CHUNK_COLUMNS",
    "DOCUMENT_COLUMNS",
    "LABEL_COLUMNS",
    "ChunkRows",
    "chunk_from_row",
    "document_from_row",
    "document_hash",
    "document_row",
    "facet",
    "quantised_from",
]

LABEL_COLUMNS = {
    **{"source": "text", "id": "text", "hash": "bytea", "document_id": "text", "ordinal": "int4"},
    **{"file": "text", "starts": "int4", "ends": "int4", "headings": "text[]", "link": "text"},
    **{"tags": "text[]", "page": "int4", "source_type": "text", "labels": "text[]", "day": "text"},
    **{"facets": "text[]", "metadata": "jsonb"},
}
CHUNK_COLUMNS = LABEL_COLUMNS | {
    **{"twin": "bytea", "topic": "text", "text": "text", "length": "int4", "words": "tsvector"},
    **{"embedding": "vector", "text_embedding": "vector", "tokens": "bytea", "spans": "bytea"},
}
DOCUMENT_COLUMNS = {
    **{"source": "text", "id": "text", "hash": "bytea", "place": "int4", "file": "text", "title": "text"},
    **{"link": "text", "tags": "text[]", "metadata": "jsonb", "text": "text", "blocks": "jsonb"},
}
_RULES = 1
"""Goes up when a row holds something else for the same chunk, so that all rows are written again."""


class ChunkRows:
    """The rows of an index, one at a time.

    Args:
        index: The index.
        source: Who writes it.
    """

    def __init__(self, index: Index, source: str) -> None:
        self._index = index
        self._source = source
        self._terms = _TermsByRow(index.postings)
        self._heads = {document.id: _Head(document) for document in index.documents.values()}

    def hashes(self) -> Iterator[tuple[str, bytes]]:
        """Id and hash of each chunk, see `pipeline.stores.postgres.difference`.

        Token vectors follow from the text and its vectors; they are not looked at.
        """
        index = self._index
        for number, chunk in enumerate(index.chunks):
            vectors = index.vectors[number].tobytes() + index.text_vectors[number].tobytes()
            body = _digest(orjson.dumps([_RULES, chunk.topic, chunk.text]) + vectors)
            labels = orjson.dumps([_RULES, {**records.chunk_record(chunk), "text": ""}])
            yield chunk.id, body + _digest(labels + self._heads[chunk.document_id].record)

    def row(self, number: int, digest: bytes) -> tuple[object, ...]:
        """The values of `CHUNK_COLUMNS`."""
        index, chunk = self._index, self._index.chunks[number]
        values, spans = _quantised(index.tokens, number)
        return (
            *self.labels(number, digest),
            *(_twin(chunk), to_postgres(chunk.topic), to_postgres(chunk.text)),
            *(int(index.postings.lengths[number]), self._terms[number]),
            *(Vector(index.vectors[number]), Vector(index.text_vectors[number])),
            *(np.ascontiguousarray(values).tobytes(), np.ascontiguousarray(spans, dtype="<i4").tobytes()),
        )

    def labels(self, number: int, digest: bytes) -> tuple[object, ...]:
        """The values of `LABEL_COLUMNS`."""
        chunk = self._index.chunks[number]
        head = self._heads[chunk.document_id]
        return (
            *(self._source, chunk.id, digest, chunk.document_id, chunk.ordinal, to_postgres(chunk.file)),
            *(chunk.start, chunk.end, _texts(chunk.headings), _text(chunk.link), _texts(chunk.tags)),
            *(chunk.page, head.source_type, sorted(_texts(labels_of(chunk.tags, head.document)))),
            *(head.day, head.facets, head.metadata),
        )


class _Head:
    """What a document says of all its chunks."""

    __slots__ = ("day", "document", "facets", "metadata", "record", "source_type")

    def __init__(self, document: Document) -> None:
        self.document = document
        self.source_type = to_postgres(source_type_of(document))
        self.day = document_day(document)
        self.facets = sorted(facet(key, value_form(value)) for key, value in document.metadata.items())
        self.metadata = _json(dict(document.metadata))
        self.record = orjson.dumps([self.source_type, self.day, self.facets, sorted(document.tags)])


class _TermsByRow:
    """Postings the other way round: the terms of each chunk."""

    def __init__(self, postings: Postings) -> None:
        self._names = [""] * len(postings.terms)
        for term, number in postings.terms.items():
            self._names[number] = term
        numbers = np.repeat(np.arange(len(postings.terms), dtype=np.int32), np.diff(postings.starts))
        order = np.argsort(postings.rows, kind="stable")
        self._numbers: NDArray[np.int32] = numbers[order]
        self._counts: NDArray[np.int32] = np.asarray(postings.counts)[order]
        self._starts = np.searchsorted(postings.rows[order], np.arange(len(postings.lengths) + 1))

    def __getitem__(self, row: int) -> Terms:
        span = slice(int(self._starts[row]), int(self._starts[row + 1]))
        names = (self._names[number] for number in self._numbers[span].tolist())
        return Terms(dict(zip(names, self._counts[span].tolist(), strict=True)))


def facet(key: str, form: str) -> str:
    """A metadata value as one text that a filter can ask for."""
    return to_postgres(f"{key}\x1f{form}")


def document_hash(document: Document) -> bytes:
    """Equal for documents of which nothing need be sent."""
    record = orjson.dumps([_RULES, records.document_record(document)])
    return _digest(record)


def document_row(source: str, document: Document, digest: bytes, place: int) -> tuple[object, ...]:
    """The values of `DOCUMENT_COLUMNS`."""
    blocks = records.document_record(document)["blocks"]
    return (
        *(source, document.id, digest, place, to_postgres(document.file), to_postgres(document.title)),
        *(_text(document.link), _texts(document.tags), _json(dict(document.metadata))),
        *(to_postgres(document.text), _json(blocks)),
    )


def chunk_from_row(row: Mapping[str, Any]) -> Chunk:
    """A chunk from a row of `chunks`."""
    return Chunk(
        id=row["id"],
        document_id=row["document_id"],
        ordinal=row["ordinal"],
        topic=from_postgres(row["topic"]),
        text=from_postgres(row["text"]),
        start=row["starts"],
        end=row["ends"],
        headings=tuple(map(from_postgres, row["headings"])),
        link=None if row["link"] is None else from_postgres(row["link"]),
        file=from_postgres(row["file"]),
        tags=tuple(map(from_postgres, row["tags"])),
        page=row["page"],
    )


def document_from_row(row: Mapping[str, Any]) -> Document:
    """A document from a row of `documents`."""
    return records.document_from(
        {
            "id": row["id"],
            "file": from_postgres(row["file"]),
            "title": from_postgres(row["title"]),
            "link": None if row["link"] is None else from_postgres(row["link"]),
            "tags": [from_postgres(tag) for tag in row["tags"]],
            "metadata": _decoded(row["metadata"]),
            "text": from_postgres(row["text"]),
            "blocks": _decoded(row["blocks"]),
        }
    )


def quantised_from(row: Mapping[str, Any], dimension: int) -> QuantisedText:
    """The token vectors of a chunk as bytes, with their spans."""
    values = np.frombuffer(row["tokens"], dtype=np.int8).reshape(-1, dimension)
    return values, np.frombuffer(row["spans"], dtype="<i4").reshape(-1, 2).astype(np.int32)


def _quantised(tokens: TokenStore, row: int) -> QuantisedText:
    packed = getattr(tokens, "quantised", None)
    if packed is not None:
        values, spans = packed(row)
        return values, spans
    text = tokens[row]
    return quantise(text.vectors), text.spans


def _twin(chunk: Chunk) -> bytes:
    """Equal for chunks with the same topic and text."""
    return _digest(orjson.dumps([chunk.topic, chunk.text]))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=BODY).digest()


def _text(text: str | None) -> str | None:
    return None if text is None else to_postgres(text)


def _texts(texts: Sequence[str] | frozenset[str]) -> list[str]:
    return [to_postgres(text) for text in texts]


def _json(value: object) -> Jsonb:
    from psycopg.types.json import Jsonb

    return Jsonb(_mapped(value, to_postgres))


def _decoded(value: object) -> object:
    return _mapped(value, from_postgres)


def _mapped(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _mapped(one, change) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(one, change) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no such number
    return value
