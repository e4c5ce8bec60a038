"""An index as points of Qdrant, and points as parts of an index."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import orjson

from pipeline.errors import IndexDamagedError
from pipeline.index import Index
from pipeline.stores import records
from pipeline.stores.qdrant.conditions import chunk_facets, document_facets
from pipeline.stores.qdrant.layout import LIVE, TEXT, TOPIC_TEXT, WORDS, content_of, point_id
from pipeline.stores.qdrant.owners import owners_record
from pipeline.stores.qdrant.terms import WordVectors, holdings_of
from pipeline.stores.qdrant.token_bytes import TokenPlace, quantised_of
from pipeline.text.postings import TERMS_VERSION
from pipeline.types import Chunk, Document

if TYPE_CHECKING:
    from qdrant_client import models

__all__ = ["Share", "blob_of", "blob_pieces", "chunk_in", "document_in", "pack", "unpack"]

_PIECE = 1 << 22
_T = TypeVar("_T")


@dataclass(frozen=True)
class Share:
    """What one indexer keeps of an index, ready to become points.

    Attributes:
        source: Who it is.
        index: The index.
        mean: Terms of a chunk that the sparse vectors are made with.
    """

    source: str
    index: Index
    mean: float

    @cached_property
    def chunk_contents(self) -> list[bytes]:
        """What tells each chunk's point from all others; not its tokens, which its vector stands for."""
        made_with = f"{self.index.manifest.embedder_id} {self.mean!r} {TERMS_VERSION}".encode()
        return [
            content_of(
                made_with,
                orjson.dumps(self._chunk_payload(row), option=orjson.OPT_SORT_KEYS),
                self.index.vectors[row].tobytes(),
                self.index.text_vectors[row].tobytes(),
            )
            for row in range(len(self.index.chunks))
        ]

    @cached_property
    def document_contents(self) -> dict[bytes, str]:
        """Content of each document's point -> the document's id."""
        return {
            content_of(self.source.encode(), orjson.dumps(records.document_record(document))): document.id
            for document in self.index.documents.values()
        }

    @cached_property
    def _words(self) -> WordVectors:
        return WordVectors(self.index.postings, self.mean)

    @cached_property
    def _facets(self) -> dict[str, dict[str, Any]]:
        return {document.id: document_facets(document) for document in self.index.documents.values()}

    def wholes(self) -> dict[str, bytes]:
        """What belongs to the version as a whole."""
        index = self.index
        manifest = records.manifest_record(index.manifest) | records.calibration_record(index.calibration)
        return {
            "manifest": orjson.dumps(manifest),
            "terms": orjson.dumps(holdings_of(index.postings)),
            "owners": owners_record(index),
            "files": orjson.dumps(sorted({document.file for document in index.documents.values()})),
        }

    def chunk_points(
        self, rows: Sequence[int], generation: int, place: TokenPlace
    ) -> Iterator[models.PointStruct]:
        """The points of some rows, their tokens kept."""
        from qdrant_client import models

        ids = [point_id(self.chunk_contents[row], generation) for row in rows]
        tokens = {one: quantised_of(self.index.tokens, row) for one, row in zip(ids, rows, strict=True)}
        kept = place.keep(tokens)
        for one, row in zip(ids, rows, strict=True):
            counted = {"token_count": len(tokens[one][0]), **self._words.counts(row)}
            yield models.PointStruct(
                id=one,
                vector={
                    TOPIC_TEXT: _numbers(self.index.vectors[row]),
                    TEXT: _numbers(self.index.text_vectors[row]),
                    WORDS: self._words.of(row),
                },
                payload={**_lasting(generation), **self._chunk_payload(row), **counted, **kept.get(one, {})},
            )

    def document_points(self, contents: Sequence[bytes], generation: int) -> Iterator[models.PointStruct]:
        """The points of some documents."""
        from qdrant_client import models

        for content in contents:
            document = self.index.documents[self.document_contents[content]]
            payload = {
                "kind": "document",
                "source": self.source,
                "document_id": document.id,
                "packed": pack(orjson.dumps(records.document_record(document))),
            }
            yield models.PointStruct(
                id=point_id(content, generation), vector={}, payload={**_lasting(generation), **payload}
            )

    def blob_points(
        self, name: str, data: bytes, generation: int
    ) -> tuple[list[str], Iterator[models.PointStruct]]:
        """Ids and points of something that belongs to the version as a whole."""
        pieces = list(blob_pieces(data))
        ids = [
            point_id(content_of(self.source.encode(), name.encode(), bytes([number]), piece), generation)
            for number, piece in enumerate(pieces)
        ]
        return ids, self._blob_points(name, ids, pieces, generation)

    def _blob_points(
        self, name: str, ids: Sequence[str], pieces: Sequence[bytes], generation: int
    ) -> Iterator[models.PointStruct]:
        from qdrant_client import models

        for one, piece in zip(ids, pieces, strict=True):
            payload = {"kind": "blob", "source": self.source, "blob": name, "packed": _text(piece)}
            yield models.PointStruct(id=one, vector={}, payload={**_lasting(generation), **payload})

    def _chunk_payload(self, row: int) -> dict[str, Any]:
        chunk = self.index.chunks[row]
        record = records.chunk_record(chunk)
        del record["document_id"]  # it changes with every other chunk of the document
        return {
            "kind": "chunk",
            "source": self.source,
            "chunk_id": chunk.id,
            **chunk_facets(self._facets[chunk.document_id], chunk),
            "chunk": record,
        }


def chunk_in(payload: Mapping[str, Any], document_id: str) -> Chunk:
    """The chunk of a point."""
    return _checked(records.chunk_from, {**payload["chunk"], "document_id": document_id})


def document_in(payload: Mapping[str, Any]) -> Document:
    """The document of a point."""
    return _checked(records.document_from, orjson.loads(unpack(payload["packed"])))


def pack(data: bytes) -> str:
    """Bytes, smaller, as text."""
    return _text(zlib.compress(data))


def unpack(text: str) -> bytes:
    """The reverse of `pack`."""
    return zlib.decompress(b64decode(text))


def blob_pieces(data: bytes) -> Iterator[bytes]:
    """Bytes, smaller, in pieces that a request can carry; one at least."""
    packed = zlib.compress(data)
    for begin in range(0, len(packed), _PIECE):
        yield packed[begin : begin + _PIECE]


def blob_of(pieces: Sequence[str]) -> bytes:
    """The reverse of `blob_pieces`, from the payloads."""
    return zlib.decompress(b"".join(map(b64decode, pieces)))


def _checked(make: Callable[[object], _T], record: object) -> _T:
    try:
        return make(record)
    except records.BadRecordError as error:
        raise IndexDamagedError(path="qdrant", reason=str(error)) from error


def _lasting(generation: int) -> dict[str, int]:
    return {"added": generation, "removed": LIVE}


def _numbers(vector: np.ndarray) -> list[float]:
    # JSON has no NaN; a chunk without words may have such a vector.
    numbers: list[float] = np.nan_to_num(vector, nan=0.0, posinf=0.0, neginf=0.0).tolist()
    return numbers


def _text(data: bytes) -> str:
    return b64encode(data).decode("ascii")
