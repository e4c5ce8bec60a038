"""The JSON files of an index, known to belong together."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from pipeline.durable import sha256_of
from pipeline.errors import IndexDamagedError, IndexMismatchError, IndexMissingError
from pipeline.index import FORMAT_VERSION, Calibration, Manifest
from pipeline.messages import Phrase
from pipeline.ports import EmbedderSpec
from pipeline.stores import records
from pipeline.stores.switch import current

__all__ = [
    "CHUNKS",
    "DOCUMENTS",
    "EMBEDDINGS",
    "MANIFEST",
    "Head",
    "check_checksum",
    "check_embedder",
    "damaged",
    "parsed",
    "read_head",
    "stamp",
    "with_checksum",
]

MANIFEST, CHUNKS, DOCUMENTS, EMBEDDINGS = "manifest.json", "chunks.json", "documents.json", "embeddings.json"


@dataclass(frozen=True, slots=True)
class Head:
    """The manifest with what only the store needs."""

    manifest: Manifest
    checksums: Mapping[str, str]
    count: int
    calibration: Calibration | None = None


def stamp(folder: Path) -> tuple[int, int, int] | None:
    """Changes whenever another index is written; cheap. None where there is none that can be seen."""
    try:
        status = current(folder, MANIFEST).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


def read_head(folder: Path, expected: EmbedderSpec | None) -> Head:
    """The manifest, checked.

    Raises:
        IndexMissingError: There is no index in this folder.
        IndexDamagedError: The manifest cannot be used, or is gone.
        IndexMismatchError: The index is of another format or embedder.
    """
    path = current(folder, MANIFEST)
    if not path.is_file():
        if any(current(folder, name).is_file() for name in (CHUNKS, DOCUMENTS, EMBEDDINGS)):
            raise IndexDamagedError(path=path, reason=Phrase("index_no_file"))
        raise IndexMissingError(path=folder)
    record = parsed(path, path.read_bytes())
    if (
        isinstance(record, dict)
        and isinstance(record.get("format"), int)
        and record["format"] != FORMAT_VERSION
    ):
        raise _mismatch("format", record["format"], FORMAT_VERSION)
    try:
        head = Head(
            records.manifest_from(record),
            *records.sums_from(record, (CHUNKS, DOCUMENTS, EMBEDDINGS)),
            calibration=records.calibration_from(record),
        )
    except records.BadRecordError as error:
        raise damaged(path, str(error)) from error
    if expected is not None:
        check_embedder(head.manifest, expected)
    return head


def check_embedder(manifest: Manifest, expected: EmbedderSpec) -> None:
    """Refuse an index made by another embedder (case 21); raises `IndexMismatchError`."""
    pairs = (
        ("embedder", manifest.embedder_id, expected.id),
        ("dimension", manifest.dimension, expected.dimension),
        ("prefixes", manifest.prefix_scheme, expected.prefix_scheme),
    )
    for what, found, wanted in pairs:
        if found != wanted:
            raise _mismatch(what, found, wanted)


def with_checksum(path: Path, checksum: str) -> bytes:
    """A file's bytes if they have this SHA-256, else `IndexDamagedError`."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise IndexDamagedError(path=path, reason=Phrase("index_no_file")) from error
    if hashlib.sha256(data).hexdigest() != checksum:
        parsed(path, data)  # a cut file is better named as one
        raise IndexDamagedError(path=path, reason=Phrase("index_changed"))
    return data


def check_checksum(path: Path, checksum: str) -> None:
    """As `with_checksum`, for a file whose bytes are not wanted: it may be larger than the memory."""
    try:
        found = sha256_of(path)
    except FileNotFoundError as error:
        raise IndexDamagedError(path=path, reason=Phrase("index_no_file")) from error
    if found != checksum:
        with_checksum(path, checksum)
        raise IndexDamagedError(path=path, reason=Phrase("index_changed"))


def parsed(path: Path, data: bytes) -> object:
    """The JSON value of a file's bytes, or `IndexDamagedError`."""
    try:
        value: object = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise IndexDamagedError(path=path, reason=Phrase("index_not_json")) from error
    return value


def damaged(path: Path, detail: str) -> IndexDamagedError:
    """An error that names what in a file was not expected."""
    return IndexDamagedError(path=path, reason=Phrase("index_shape", {"detail": detail}))


def _mismatch(what: str, found: object, expected: object) -> IndexMismatchError:
    return IndexMismatchError(what=Phrase(f"index_what_{what}"), found=found, expected=expected)
