"""The note that ties binary copies to the JSON files of one build: ``record.json``, written last."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from pipeline.durable import put_in_place

__all__ = ["RECORD", "CacheRecord", "FileState", "checksum", "read_record", "state_of", "write_record"]

RECORD = "record.json"
_VERSION = 2
_PIECE = 1 << 22


@dataclass(frozen=True, slots=True)
class FileState:
    """Size and time of change of a JSON file: equal ones mean it need not be read again."""

    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class CacheRecord:
    """What copies belong to, and what they are.

    Attributes:
        checksums: JSON file -> SHA-256.
        states: JSON file -> the state in which it last had that checksum.
        files: Copy -> size and CRC-32; None where it was not recorded.
    """

    checksums: Mapping[str, str]
    states: Mapping[str, FileState]
    files: Mapping[str, tuple[int, int | None]]


def state_of(path: Path) -> FileState:
    """The present state of a file."""
    status = path.stat()
    return FileState(status.st_size, status.st_mtime_ns)


def checksum(path: Path) -> int:
    """CRC-32 of a file."""
    value = 0
    with path.open("rb", buffering=0) as stream:
        while piece := stream.read(_PIECE):
            value = zlib.crc32(piece, value)
    return value


def read_record(folder: Path) -> CacheRecord | None:
    """The record of a cache folder; None where it cannot be read.

    One of version 1 knows ``embeddings.json`` and sizes only.
    """
    try:
        record = orjson.loads((folder / RECORD).read_bytes())
        if record["version"] == 1:
            sizes = {name: (int(size), None) for name, size in record["files"].items()}
            return CacheRecord({"embeddings.json": record["checksum"]}, {}, sizes)
        if record["version"] != _VERSION:
            return None
        return CacheRecord(
            checksums=dict(record["checksums"]),
            states={name: FileState(*state) for name, state in record["states"].items()},
            files={name: (int(size), int(crc)) for name, (size, crc) in record["files"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # any damage: there are no copies then


def write_record(folder: Path, record: CacheRecord) -> None:
    """Put a record in place of the old one.

    Raises:
        OSError: It could not be written. Where only another record may not be replaced, that one stays:
            it costs one more look at the JSON files at the next start.
    """
    content = {
        "version": _VERSION,
        "checksums": dict(record.checksums),
        "states": {name: [state.size, state.mtime_ns] for name, state in record.states.items()},
        "files": {name: list(pair) for name, pair in record.files.items()},
    }
    try:
        put_in_place(folder / RECORD, orjson.dumps(content))
    except PermissionError:
        if not (folder / RECORD).is_file():
            raise
