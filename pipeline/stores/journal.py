"""What an interrupted indexing run has already encoded: one file that only grows.

A record is a head (mark, CRC-32 of all that follows, key, dimension, number of tokens or -1), the
vector as float32, the token bytes and their spans as int32, little-endian. Reading stops at the
first record that is cut or does not agree with its checksum: a crash can only spoil the end.
"""

from __future__ import annotations

import io
import os
import struct
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from pipeline.stores.faults import writing
from pipeline.stores.token_store import QuantisedText
from pipeline.types import FloatMatrix

__all__ = ["JOURNAL", "Journal"]

JOURNAL = "encoded.journal"

_HEAD = struct.Struct("<4sI32sIi")
_MARK = b"OVJ1"
_FLUSH_S = 1.0
_CHECKED_FROM = 8  # the mark and the checksum itself are not checked by it


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a record's content begins, and its shape."""

    start: int
    dimension: int
    tokens: int

    @property
    def size(self) -> int:
        """Bytes of the content."""
        return 4 * self.dimension + max(self.tokens, 0) * (self.dimension + 8)


class Journal:
    """A `pipeline.stores.vector_book.VectorBook` in a file, used under the lock of its index.

    Args:
        path: Made with the first record; what an earlier run left there is read.

    Raises:
        IndexNotWrittenError: The file cannot be written, or the disk is full; what is whole stays usable.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[bytes, _Place] = {}
        self._stream: io.FileIO | None = None
        self._end = 0
        self._flushed = 0.0
        if path.is_file():
            with writing(path):
                self._read(self._opened())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Texts in it."""
        return len(self._places)

    def has(self, key: bytes, *, with_tokens: bool) -> bool:
        """See `VectorBook`."""
        place = self._places.get(key)
        return place is not None and (place.tokens >= 0 or not with_tokens)

    def put(self, key: bytes, vector: FloatMatrix, tokens: QuantisedText | None) -> None:
        """See `VectorBook`."""
        parts = [np.ascontiguousarray(vector, "<f4").tobytes()]
        if tokens is not None:
            values, spans = tokens
            parts += [np.ascontiguousarray(values).tobytes(), np.ascontiguousarray(spans, "<i4").tobytes()]
        place = _Place(self._end + _HEAD.size, len(vector), -1 if tokens is None else len(tokens[0]))
        content = b"".join(parts)
        head = bytearray(_HEAD.pack(_MARK, 0, key, place.dimension, place.tokens))
        struct.pack_into("<I", head, 4, zlib.crc32(content, zlib.crc32(head[_CHECKED_FROM:])))
        with writing(self._path):
            self._append(bytes(head) + content)
        self._places[key] = place

    def vector(self, key: bytes) -> FloatMatrix:
        """See `VectorBook`."""
        place = self._places[key]
        return np.frombuffer(self._content(place.start, 4 * place.dimension), "<f4").astype(np.float32)

    def tokens(self, key: bytes) -> QuantisedText:
        """See `VectorBook`."""
        place = self._places[key]
        if place.tokens < 0:
            raise KeyError(key)
        data = self._content(place.start + 4 * place.dimension, place.tokens * (place.dimension + 8))
        values = np.frombuffer(data, np.int8, place.tokens * place.dimension)
        spans = np.frombuffer(data, "<i4", offset=len(values))
        return values.reshape(place.tokens, place.dimension), spans.astype(np.int32).reshape(-1, 2)

    def count(self, key: bytes) -> int:
        """See `VectorBook`."""
        return max(self._places[key].tokens, 0)

    def flush(self) -> None:
        """Wait until everything is on the disk; not more often than a loss of power can matter."""
        if self._stream is not None and time.monotonic() - self._flushed >= _FLUSH_S:
            with writing(self._path):
                os.fsync(self._stream.fileno())
            self._flushed = time.monotonic()

    def close(self) -> None:
        """Close the file; it stays for the next run."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def remove(self) -> None:
        """Close and delete the file: its content is in the index now."""
        self.close()
        self._places.clear()
        with writing(self._path):
            self._path.unlink(missing_ok=True)

    def _opened(self) -> io.FileIO:
        if self._stream is None:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
            self._stream = io.FileIO(descriptor, "r+")
        return self._stream

    def _read(self, stream: io.FileIO) -> None:
        size = os.fstat(stream.fileno()).st_size
        while (place := self._record(size)) is not None:
            self._end = place.start + place.size
        if self._end < size:
            stream.truncate(self._end)

    def _record(self, size: int) -> _Place | None:
        """The record at the end of what is known to be whole, or None if there is no whole one."""
        if self._end + _HEAD.size > size:
            return None
        head = self._content(self._end, _HEAD.size)
        mark, checksum, key, dimension, tokens = _HEAD.unpack(head)
        place = _Place(self._end + _HEAD.size, dimension, tokens)
        if mark != _MARK or tokens < -1 or place.start + place.size > size:
            return None
        content = self._content(place.start, place.size)
        if zlib.crc32(content, zlib.crc32(head[_CHECKED_FROM:])) != checksum:
            return None
        self._places[key] = place
        return place

    def _content(self, start: int, size: int) -> bytes:
        stream = self._opened()
        stream.seek(start)
        parts: list[bytes] = []
        while size > 0:
            part = stream.read(size)
            if not part:
                raise EOFError(self._path)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _append(self, data: bytes) -> None:
        stream = self._opened()
        stream.seek(self._end)
        rest = memoryview(data)
        while rest:
            rest = rest[stream.write(rest) or 0 :]
        self._end += len(data)
