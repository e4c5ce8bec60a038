"""Chunks and documents that stay on the disk until one is asked for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Generic, TypeVar, overload

import orjson

from pipeline.index import ChunkOrder
from pipeline.stores import records
from pipeline.stores.packed_records import BrokenRecordError, PackedRecords
from pipeline.types import Chunk, Document

__all__ = ["StoredChunks", "StoredDocuments", "Truth"]

logger = logging.getLogger(__name__)

Truth = Callable[[], Sequence[object]]
"""Reads all records of a kind from the JSON they were copied from; raises `IndexDamagedError`."""

_T = TypeVar("_T")
_CHUNKS_KEPT = 4096
_DOCUMENTS_KEPT = 16


class _Reader(Generic[_T]):
    """Values made of packed records; where the copy turns out damaged, of the JSON itself."""

    def __init__(self, packed: PackedRecords, make: Callable[[object], _T], truth: Truth) -> None:
        self._packed = packed
        self._make = make
        self._truth = truth
        self._whole: Sequence[object] | None = None

    def __call__(self, row: int) -> _T:
        if self._whole is None:
            try:
                return self._make(orjson.loads(self._packed[row]))
            except (BrokenRecordError, orjson.JSONDecodeError, records.BadRecordError):
                logger.warning("a copy of the index is damaged; its JSON is read instead")
                self._whole = self._truth()
        return self._make(self._whole[row])


class StoredChunks(Sequence[Chunk]):
    """The chunks of an index, in row order.

    Args:
        packed: One record a chunk, as in ``chunks.json``.
        order: How they compare with each other.
        truth: For a damaged copy.
    """

    def __init__(self, packed: PackedRecords, order: ChunkOrder, truth: Truth) -> None:
        self.order = order
        self._count = len(packed)
        self._read = _Reader(packed, records.chunk_from, truth)
        self._recent = lru_cache(_CHUNKS_KEPT)(self._read)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, row: int) -> Chunk: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[Chunk]: ...

    def __getitem__(self, row: int | slice) -> Chunk | Sequence[Chunk]:
        if isinstance(row, slice):
            return tuple(self._read(one) for one in range(*row.indices(self._count)))
        place = row + self._count if row < 0 else row
        if not 0 <= place < self._count:
            raise IndexError(row)
        return self._recent(place)

    def __iter__(self) -> Iterator[Chunk]:
        return map(self._read, range(self._count))  # all of them would drive the recent ones out

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(other) != len(self):
            return NotImplemented if not isinstance(other, Sequence) else False
        return all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


class StoredDocuments(Mapping[str, Document]):
    """The documents of an index, by id.

    Args:
        packed: One record a document, as in ``documents.json``.
        ids: Their ids, in the same order.
        truth: For a damaged copy.
    """

    def __init__(self, packed: PackedRecords, ids: Sequence[str], truth: Truth) -> None:
        self._rows = {name: row for row, name in enumerate(ids)}
        self._read = _Reader(packed, records.document_from, truth)
        self._recent = lru_cache(_DOCUMENTS_KEPT)(self._read)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __getitem__(self, key: str) -> Document:
        return self._recent(self._rows[key])
