"""A snapshot of an index that is at hand: exact search, or an index of vectors beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.fusion import Fusion
from pipeline.index import Calibration, Index, Manifest, find_row
from pipeline.retrieval.candidates import find_candidates
from pipeline.retrieval.keyword import PostingsStatistics
from pipeline.retrieval.prefilter import matching_rows
from pipeline.snapshot import Asked, Excerpt, Pool, VectorIndex
from pipeline.types import Chunk, Document, Filter, SearchMode

__all__ = ["IndexSnapshot"]


@dataclass(frozen=True, slots=True)
class IndexSnapshot:
    """A `pipeline.snapshot.Snapshot` of one immutable index.

    Attributes:
        index: The index.
        vectors: Does the dense search in place of the exact one.
    """

    index: Index
    vectors: VectorIndex | None = None

    @property
    def manifest(self) -> Manifest:
        """What it was made from."""
        return self.index.manifest

    @property
    def calibration(self) -> Calibration | None:
        """Of refusal."""
        return self.index.calibration

    @property
    def statistics(self) -> PostingsStatistics:
        """Of all chunks."""
        return PostingsStatistics(self.index.postings)

    def candidates(
        self, asked: Asked, wanted: Filter | None, *, mode: SearchMode, fusion: Fusion, count: int
    ) -> Excerpt:
        """The best by meaning, by words, or by both; see `Snapshot`."""
        pool = find_candidates(
            self.index,
            asked.vector,
            asked.terms,
            matching_rows(self.index, wanted),
            mode=mode,
            count=count,
            fusion=fusion,
            nearest=self.vectors,
            wanted=wanted,
        )
        return Excerpt(self.index, pool)

    def listing(self, wanted: Filter | None, count: int) -> Excerpt:
        """The first chunks in document order; see `Snapshot`."""
        allowed = matching_rows(self.index, wanted)
        rows = range(len(self.index.chunks)) if allowed is None else allowed.tolist()
        first = sorted(rows, key=self._place)[:count]
        none = np.zeros(len(first), dtype=np.float32)
        return Excerpt(self.index, Pool(tuple(first), none, none, none))

    def chunk(self, chunk_id: str) -> Chunk | None:
        """The chunk of this id, if there is one."""
        row = find_row(self.index, chunk_id)
        return None if row is None else self.index.chunks[row]

    def document(self, document_id: str) -> Document | None:
        """The document of this id, if there is one."""
        return self.index.documents.get(document_id)

    def _place(self, row: int) -> tuple[str, str, int]:
        chunk = self.index.chunks[row]
        return chunk.file, chunk.document_id, chunk.ordinal
