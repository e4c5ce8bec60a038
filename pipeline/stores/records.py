"""Index values as JSON objects and back, every field checked on the way in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from pipeline.index import Calibration, Manifest
from pipeline.types import Block, Chunk, Document

__all__ = [
    "BadRecordError",
    "calibration_from",
    "calibration_record",
    "chunk_from",
    "chunk_record",
    "document_from",
    "document_record",
    "manifest_from",
    "manifest_record",
    "sums_from",
]

_T = TypeVar("_T")
_SHARES = ("refused_own", "refused_foreign", "refused_missing")


class BadRecordError(Exception):
    """A record has a missing field or a field of a wrong type; the text names it."""


def chunk_record(chunk: Chunk) -> dict[str, Any]:
    """A chunk as in ``chunks.json``."""
    return {
        "id": chunk.id,
        "topic": chunk.topic,
        "link": chunk.link,
        "file": chunk.file,
        "text": chunk.text,
        "start": chunk.start,
        "end": chunk.end,
        "headings": chunk.headings,
        "tags": chunk.tags,
        "page": chunk.page,
        "document_id": chunk.document_id,
        "ordinal": chunk.ordinal,
    }


def chunk_from(record: object) -> Chunk:
    """A chunk from ``chunks.json``."""
    fields = _object(record)
    return Chunk(
        id=_get(fields, "id", str),
        document_id=_get(fields, "document_id", str),
        ordinal=_get(fields, "ordinal", int),
        topic=_get(fields, "topic", str),
        text=_get(fields, "text", str),
        start=_get(fields, "start", int),
        end=_get(fields, "end", int),
        headings=_texts(fields, "headings"),
        link=_optional(fields, "link", str),
        file=_get(fields, "file", str),
        tags=_texts(fields, "tags"),
        page=_optional(fields, "page", int),
    )


def document_record(document: Document) -> dict[str, Any]:
    """A document as in ``documents.json``."""
    return {
        "id": document.id,
        "file": document.file,
        "title": document.title,
        "link": document.link,
        "tags": document.tags,
        "metadata": dict(document.metadata),
        "text": document.text,
        "blocks": [_block_record(block) for block in document.blocks],
    }


def document_from(record: object) -> Document:
    """A document from ``documents.json``."""
    fields = _object(record)
    metadata = _object(fields.get("metadata"))
    if not all(isinstance(value, str | int | float) for value in metadata.values()):
        raise BadRecordError("metadata")
    return Document(
        id=_get(fields, "id", str),
        file=_get(fields, "file", str),
        title=_get(fields, "title", str),
        link=_optional(fields, "link", str),
        text=_get(fields, "text", str),
        blocks=tuple(_block_from(block) for block in _get(fields, "blocks", list)),
        metadata=metadata,
        tags=_texts(fields, "tags"),
    )


def manifest_record(manifest: Manifest) -> dict[str, Any]:
    """A manifest as in ``manifest.json``, the checksums of the other files left out."""
    return {
        "format": manifest.format,
        "build_id": manifest.build_id,
        "embedder_id": manifest.embedder_id,
        "dimension": manifest.dimension,
        "prefix_scheme": manifest.prefix_scheme,
        "chunker": dict(manifest.chunker),
        "files": dict(manifest.files),
        "skipped": dict(manifest.skipped),
        "unread": dict(manifest.unread),
        "beside": dict(manifest.beside),
        "readers": manifest.readers,
    }


def manifest_from(record: object) -> Manifest:
    """A manifest from ``manifest.json``."""
    fields = _object(record)
    prefixes = _get(fields, "prefix_scheme", str)
    chunker = _object(fields.get("chunker"))
    if not all(isinstance(value, str | int) for value in chunker.values()):
        raise BadRecordError("chunker")
    if prefixes not in ("e5", "none"):
        raise BadRecordError("prefix_scheme")
    return Manifest(
        build_id=_get(fields, "build_id", str),
        embedder_id=_get(fields, "embedder_id", str),
        dimension=_get(fields, "dimension", int),
        prefix_scheme="e5" if prefixes == "e5" else "none",
        chunker=chunker,
        files=_words(fields, "files"),
        skipped=_words(fields, "skipped"),
        unread=_words(fields, "unread"),
        beside=_words(fields, "beside"),
        readers=_get(fields, "readers", int),
        format=_get(fields, "format", int),
    )


def calibration_record(calibration: Calibration | None) -> dict[str, Any]:
    """What ``manifest.json`` holds of a calibration; nothing where there is none."""
    return {} if calibration is None else {"calibration": asdict(calibration)}


def calibration_from(record: object) -> Calibration | None:
    """The calibration in ``manifest.json``; None where there is none, or one of another form."""
    fields = _object(record).get("calibration")
    if fields is None:
        return None
    try:
        found = _object(fields)
        return Calibration(
            method=_get(found, "method", str),
            own=_get(found, "own", int),
            foreign=_get(found, "foreign", int),
            shift=_get(found, "shift", float),
            shift_abroad=_get(found, "shift_abroad", float),
            **{name: tuple(map(float, _get(found, name, list))) for name in _SHARES},
        )
    except (BadRecordError, TypeError, ValueError):
        return None  # the product's own threshold holds: no reason to refuse the whole index


def sums_from(record: object, names: Sequence[str]) -> tuple[dict[str, str], int]:
    """Checksums of the named files, and the number of chunks, from ``manifest.json``."""
    fields = _object(record)
    sums = _object(fields.get("checksums"))
    return {name: _get(sums, name, str) for name in names}, _get(fields, "chunks", int)


def _block_record(block: Block) -> dict[str, Any]:
    return {
        "start": block.start,
        "end": block.end,
        "topic": block.topic,
        "headings": block.headings,
        "link": block.link,
        "tags": block.tags,
        "page": block.page,
    }


def _block_from(record: object) -> Block:
    fields = _object(record)
    return Block(
        start=_get(fields, "start", int),
        end=_get(fields, "end", int),
        topic=_get(fields, "topic", str),
        headings=_texts(fields, "headings"),
        link=_optional(fields, "link", str),
        tags=_texts(fields, "tags"),
        page=_optional(fields, "page", int),
    )


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRecordError("{}")
    return value


def _words(fields: Mapping[str, object], name: str) -> dict[str, str]:
    found = _object(fields.get(name))
    if not all(isinstance(value, str) for value in found.values()):
        raise BadRecordError(name)
    return found


def _get(fields: Mapping[str, object], name: str, kind: type[_T]) -> _T:
    value = fields.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadRecordError(name)
    return value


def _optional(fields: Mapping[str, object], name: str, kind: type[_T]) -> _T | None:
    return None if fields.get(name) is None else _get(fields, name, kind)


def _texts(fields: Mapping[str, object], name: str) -> tuple[str, ...]:
    values = _get(fields, name, list)
    if not all(isinstance(value, str) for value in values):
        raise BadRecordError(name)
    return tuple(values)
