"""The index as the rest of the product sees it: one immutable object, swapped whole.

Row ``i`` of every array belongs to ``chunks[i]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.latest import Latest
from pipeline.types import Chunk, Document, FloatMatrix, TokenVectors

__all__ = [
    "FORMAT_VERSION",
    "ChunkOrder",
    "Index",
    "Manifest",
    "Postings",
    "TokenStore",
    "find_row",
    "order_of",
]

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index was made from and how; holds nothing that differs between equal builds.

    Attributes:
        build_id: Hash of everything below; the ``kb_version`` of replies.
        embedder_id: ``EmbedderSpec.id`` of the embedder that made the vectors.
        chunker: Name and settings of the chunking strategy.
        files: Knowledge-base file -> SHA-256 of its bytes.
        skipped: Knowledge-base file -> why it holds no text for the index.
        unread: Skipped file -> SHA-256, where its bytes alone decide that.
        beside: Other files that decide how a file is read, such as ``sources.toml`` -> SHA-256.
        readers: Version of the readers.
    """

    build_id: str
    embedder_id: str
    dimension: int
    prefix_scheme: Literal["e5", "none"]
    chunker: Mapping[str, str | int]
    files: Mapping[str, str]
    skipped: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)
    readers: int = 0
    format: int = FORMAT_VERSION


@dataclass(frozen=True, slots=True)
class Calibration:
    """Where the threshold of refusal lies for one knowledge base; made from the index alone.

    Attributes:
        method: Which model and which rules it was made with; with others it holds no more.
        shift: Log-odds to take off where the evidence is in the question's language.
        shift_abroad: The same where it is in another one.
        own: How many questions made of the base's own sentences were asked.
        foreign: How many questions about other things.
        refused_own: Share of the former that is refused, at each strictness from -2 to 2.
        refused_foreign: Share of the latter that is refused, likewise.
        refused_missing: Share of the former that is refused once their document is taken away, likewise.
    """

    method: str
    shift: float = 0.0
    shift_abroad: float = 0.0
    own: int = 0
    foreign: int = 0
    refused_own: tuple[float, ...] = ()
    refused_foreign: tuple[float, ...] = ()
    refused_missing: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Postings:
    """Term statistics of all chunks for keyword search, in compressed sparse rows by term.

    Term ``t`` occurs in chunk rows ``rows[starts[t]:starts[t + 1]]`` (ascending), ``counts`` times each.

    Attributes:
        terms: Stemmed term -> term number.
        starts: int64, shape (terms + 1,).
        rows: int32, shape (postings,).
        counts: int32, shape (postings,).
        lengths: int32, shape (chunks,): terms of each chunk.
    """

    terms: Mapping[str, int]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int32]


class TokenStore(Protocol):
    """Token vectors of every chunk, usually memory-mapped and quantised."""

    def __len__(self) -> int:
        """Number of chunks."""
        ...

    def __getitem__(self, row: int) -> TokenVectors:
        """Token vectors of the pass over topic + text.

        Spans are offsets into ``chunk.text``; a token of the topic has the span (-1, -1).
        """
        ...


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Index:
    """A loaded index.

    Attributes:
        chunks: A tuple in a new index; a stored one reads each chunk when it is asked for.
        vectors: float32, shape (chunks, dimension): topic + text, rows of length 1.
        text_vectors: float32, same shape: the text alone.
        calibration: Of refusal; None in an index that was made without.
        documents: Document id -> document.
    """

    manifest: Manifest
    chunks: Sequence[Chunk]
    documents: Mapping[str, Document]
    vectors: FloatMatrix
    text_vectors: FloatMatrix
    tokens: TokenStore
    postings: Postings
    calibration: Calibration | None = None


@dataclass(frozen=True, slots=True)
class ChunkOrder:
    """What comparing all chunks with each other tells, in numbers.

    Attributes:
        ranks: int32, shape (chunks,): place of each chunk's id among all ids in order; what ties break by.
        twins: int32, shape (chunks,): first row with the same topic and text, mostly the row itself.
    """

    ranks: NDArray[np.int32]
    twins: NDArray[np.int32]

    @classmethod
    def of(cls, chunks: Sequence[Chunk]) -> ChunkOrder:
        """Compare chunks."""
        ids: list[str] = []
        first: dict[tuple[str, str], int] = {}
        twins = np.empty(len(chunks), dtype=np.int32)
        for row, chunk in enumerate(chunks):
            ids.append(chunk.id)
            twins[row] = first.setdefault((chunk.topic, chunk.text), row)
        ranks = np.empty(len(ids), dtype=np.int32)
        ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids), dtype=np.int32)
        return cls(ranks, twins)

    def different(self, rows: Sequence[int]) -> list[int]:
        """The rows whose topic and text have not come before among them, in their order."""
        first: dict[int, int] = {}
        for row, twin in zip(rows, self.twins[list(rows)].tolist(), strict=True):
            first.setdefault(twin, row)
        return list(first.values())


_made_orders: Latest[Index, ChunkOrder] = Latest(lambda index: ChunkOrder.of(index.chunks))


def order_of(index: Index) -> ChunkOrder:
    """The order of the chunks of an index: stored with them, else worked out once."""
    stored = getattr(index.chunks, "order", None)
    if isinstance(stored, ChunkOrder):
        return stored
    return _made_orders.of(index)


def find_row(index: Index, chunk_id: str) -> int | None:
    """The row of the chunk with this id; few chunks are looked at."""
    rows = np.argsort(order_of(index).ranks)
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high) // 2
        row = int(rows[middle])
        found = index.chunks[row].id
        if found == chunk_id:
            return row
        low, high = (middle + 1, high) if found < chunk_id else (low, middle)
    return None
