"""Vectors and term lists in PostgreSQL's binary form, as they go over the wire and come back.

``vector`` is two 16-bit numbers (dimension, 0) and big-endian float32; ``tsvector`` is a 32-bit count and,
for each term, its UTF-8, a zero byte, and its positions (pgvector ``vector.c``, PostgreSQL ``tsvector.c``).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.types import FloatMatrix

if TYPE_CHECKING:
    import psycopg

__all__ = ["Terms", "Vector", "register", "terms_from", "vectors_from"]

MOST_POSITIONS = 255
"""PostgreSQL keeps no more positions of a term in a text."""


class Vector:
    """A vector to be sent.

    Args:
        values: float32, shape (dimension,).
    """

    __slots__ = ("data",)

    def __init__(self, values: FloatMatrix) -> None:
        finite = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)  # pgvector takes no others
        self.data = struct.pack(">HH", len(finite), 0) + finite.astype(">f4").tobytes()


class Terms:
    """The terms of a chunk to be sent, each with how often it occurs."""

    __slots__ = ("data",)

    def __init__(self, counts: Mapping[str, int]) -> None:
        parts = [struct.pack(">I", len(counts))]
        for term, count in counts.items():
            number = min(count, MOST_POSITIONS)
            parts.append(term.encode("utf-8", "replace").replace(b"\0", b" ") + b"\0")
            parts.append(struct.pack(f">H{number}H", number, *range(1, number + 1)))
        self.data = b"".join(parts)


def terms_from(data: bytes) -> list[str]:
    """The terms of a chunk that were received, each as often as it occurs."""
    terms: list[str] = []
    place = 4
    for _ in range(int.from_bytes(data[:4], "big")):
        end = data.index(0, place)
        count = int.from_bytes(data[end + 1 : end + 3], "big")
        terms += [data[place:end].decode()] * count
        place = end + 3 + 2 * count
    return terms


def vectors_from(rows: Sequence[bytes], dimension: int) -> FloatMatrix:
    """Vectors that were received; float32, shape (rows, dimension)."""
    if not rows:
        return np.zeros((0, dimension), dtype=np.float32)
    packed = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1)[:, 4:]
    return np.ascontiguousarray(packed).view(">f4").astype(np.float32)


def register(connection: psycopg.Connection[Any]) -> None:
    """Teach a connection these types; the extension must exist."""
    if connection.adapters.types.get("vector") is not None:
        return
    from psycopg.adapt import Buffer, Dumper, Loader
    from psycopg.pq import Format
    from psycopg.types import TypeInfo

    class VectorDumper(Dumper):
        format = Format.BINARY

        def dump(self, obj: Vector) -> bytes:
            return obj.data

    class TermsDumper(Dumper):
        format = Format.BINARY
        oid = connection.adapters.types["tsvector"].oid

        def dump(self, obj: Terms) -> bytes:
            return obj.data

    class VectorLoader(Loader):
        format = Format.BINARY

        def load(self, data: Buffer) -> bytes:
            return bytes(data)

    vector = TypeInfo.fetch(connection, "vector")
    if vector is None:
        return
    vector.register(connection)
    VectorDumper.oid = vector.oid
    connection.adapters.register_dumper(Vector, VectorDumper)
    connection.adapters.register_dumper(Terms, TermsDumper)
    connection.adapters.register_loader(vector.oid, VectorLoader)
