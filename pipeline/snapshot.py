"""The seam of the stores: what keeps an index, and what a search needs of it.

A `Store` keeps one knowledge base: files of this machine (``json``, with ``faiss`` or ``chroma`` beside
them), or a server that several machines share (``postgres``, ``qdrant``). A search works on a `Snapshot`:
one version of the base, from its first look to its last. What a snapshot finds comes as an `Excerpt`, a
small `pipeline.index.Index` of its own, so everything after the first stage is the same for all stores.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.fusion import Fusion
from pipeline.index import Calibration, Index, Manifest
from pipeline.ports import Progress
from pipeline.types import Chunk, Document, Filter, FloatMatrix, QuestionTerm, SearchMode

__all__ = [
    "Asked",
    "Excerpt",
    "Pool",
    "Snapshot",
    "Store",
    "StoreReport",
    "TermStatistics",
    "VectorIndex",
]

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as a store sees it.

    Attributes:
        text: ``Query.search_text``.
        vector: float32, shape (dimension,), length 1.
        terms: Its keywords, with the weights that `Snapshot.statistics` gives them.
    """

    text: str
    vector: FloatMatrix
    terms: tuple[QuestionTerm, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates, best first; position ``i`` of every array belongs to ``rows[i]``.

    Attributes:
        rows: Rows of the index.
        cosine: Question against topic + text.
        keyword: What keyword search gives, 0 where no term occurs: BM25, or the store's own measure.
        fused: What the order rests on: the joined scores, or the one score of a single-stage mode.
    """

    rows: tuple[int, ...]
    cosine: Scores
    keyword: Scores
    fused: Scores


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What a first stage found.

    Attributes:
        index: Holds at least the rows of the pool, with their documents, vectors, tokens and postings.
        pool: The candidates.
    """

    index: Index
    pool: Pool


class TermStatistics(Protocol):
    """What keyword weights rest on: all chunks of a base, whatever a filter lets through."""

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        ...

    def holding(self, term: str) -> int | None:
        """How many chunks hold a term; None for one that occurs nowhere."""
        ...

    def nearest(self, term: str) -> tuple[tuple[str, float], ...]:
        """Terms of the base spelt like this one, each with a factor 0..1."""
        ...


class Snapshot(Protocol):
    """One version of a knowledge base. Read by one request at a time."""

    @property
    def manifest(self) -> Manifest:
        """What it was made from; its ``build_id`` is the ``kb_version`` of replies."""
        ...

    @property
    def calibration(self) -> Calibration | None:
        """Of refusal."""
        ...

    @property
    def statistics(self) -> TermStatistics:
        """Of all chunks."""
        ...

    def candidates(
        self, asked: Asked, wanted: Filter | None, *, mode: SearchMode, fusion: Fusion, count: int
    ) -> Excerpt:
        """The best by meaning, by words, or by both.

        A filter decides what may be ranked, before it is ranked. Texts that occur several times count once.

        Args:
            asked: The question.
            wanted: What candidates must meet.
            mode: ``hybrid``, or one of the two searches alone.
            fusion: How both scores are joined.
            count: How many each search contributes.
        """
        ...

    def listing(self, wanted: Filter | None, count: int) -> Excerpt:
        """The first chunks in document order (file, then ordinal); all scores are 0."""
        ...

    def chunk(self, chunk_id: str) -> Chunk | None:
        """The chunk of this id, if there is one."""
        ...

    def document(self, document_id: str) -> Document | None:
        """The document of this id, if there is one."""
        ...


class VectorIndex(Protocol):
    """Dense search over the rows of an index, exact or nearly so, kept beside the JSON files."""

    @property
    def name(self) -> str:
        """As the setting ``store.kind`` calls it."""
        ...

    def nearest(
        self, question: FloatMatrix, count: int, wanted: Filter | None, allowed: NDArray[np.intp] | None
    ) -> NDArray[np.intp]:
        """Rows nearest by cosine, nearest first, among those allowed and no others.

        Args:
            question: float32, shape (dimension,), length 1.
            count: How many at most; fewer only where fewer are allowed.
            wanted: The filter, for an index that keeps metadata of its own.
            allowed: The rows that meet it, ascending; None for all.
        """
        ...


@dataclass(frozen=True, slots=True)
class StoreReport:
    """What a write came to, in chunks. What was kept was neither sent nor embedded again."""

    added: int
    removed: int
    kept: int


class Store(Protocol):
    """Keeps one knowledge base. Safe to use from many threads and processes at once."""

    @property
    def name(self) -> str:
        """As the setting ``store.kind`` calls it."""
        ...

    def write(self, index: Index, progress: Progress | None = None) -> StoreReport:
        """Make the store hold this index, whole or not at all; only what differs is written.

        Readers see the old version to the end of their snapshot, then the new one, never parts of two.

        Raises:
            StoreUnreachableError: The server does not answer.
            StoreNotWrittenError: It could not be written; the old version is whole.
        """
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """The newest version, for one request.

        Raises:
            IndexMissingError: Nothing has been written yet.
            StoreUnreachableError: The server does not answer.
        """
        ...

    def read(self) -> Index:
        """The whole index, to be written into another store; equal to the one that was written.

        Raises:
            IndexMissingError: Nothing has been written yet.
        """
        ...

    def stamp(self) -> Hashable:
        """Cheap; another value once another version has been written."""
        ...

    def close(self) -> None:
        """Give back connections and files."""
        ...
