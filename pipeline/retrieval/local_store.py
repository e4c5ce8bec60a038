"""The stores of one machine: the JSON files and, beside them, an index of vectors that is made from them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pipeline.errors import IndexUnusableError, OtvetError
from pipeline.index import Index
from pipeline.messages import Phrase
from pipeline.ports import Progress
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.snapshot import StoreReport, VectorIndex
from pipeline.stores import json_store
from pipeline.stores.faults import writing
from pipeline.stores.lock import index_lock
from pipeline.stores.parts import EMBEDDINGS, read_head
from pipeline.stores.token_store import GatheredTokens, QuantisedTokens, pack_tokens, quantise

__all__ = ["LocalStore", "MakeVectors"]

MakeVectors = Callable[[Index, Path, str, Progress | None], VectorIndex]
"""Opens the vectors of an index in a folder with this checksum of ``embeddings.json``; makes stale ones."""

_RETRIES = 5  # between two looks at a folder a writer may have been there


class LocalStore:
    """A `pipeline.snapshot.Store` in a folder.

    Args:
        folder: Of the JSON files.
        name: As the setting ``store.kind`` calls it.
        vectors: For a dense search of another kind than the exact one.
        load: Loads the index of the folder; the default needs its binary copies.
    """

    def __init__(
        self,
        folder: Path,
        name: str = "json",
        vectors: MakeVectors | None = None,
        load: Callable[[], Index] | None = None,
    ) -> None:
        self._folder = folder
        self._name = name
        self._vectors = vectors
        self._load = load or (lambda: json_store.load(folder))
        self._lock = threading.Lock()
        self._latest: tuple[Hashable, IndexSnapshot] | None = None

    @property
    def name(self) -> str:
        """As the setting ``store.kind`` calls it."""
        return self._name

    def write(self, index: Index, progress: Progress | None = None) -> StoreReport:
        """Make the folder hold this index; see `pipeline.snapshot.Store`.

        Raises:
            IndexNotWrittenError: It could not be written; the old index is whole.
            IndexLockedError: Another process is writing.
        """
        report = StoreReport(len(index.chunks), 0, 0)
        with index_lock(self._folder), writing(self._folder):
            known = self._known_ids()
            if known is not None:
                ids = {chunk.id for chunk in index.chunks}
                report = StoreReport(len(ids - known), len(known - ids), len(ids & known))
            if not self._holds(index):
                json_store.save(_packed(index), self._folder)
        self._with_vectors(self._load(), progress)
        return report

    @contextmanager
    def snapshot(self) -> Iterator[IndexSnapshot]:
        """The newest version; see `pipeline.snapshot.Store`."""
        yield self._newest()

    def open(self) -> IndexSnapshot:
        """Load the index with its vectors anew.

        Raises:
            IndexUnusableError: There is none, or it cannot be used.
        """
        return self._with_vectors(self._load(), None)

    def read(self) -> Index:
        """The whole index."""
        return self._load()

    def stamp(self) -> Hashable:
        """Another value once another version has been written."""
        return json_store.stamp(self._folder)

    def close(self) -> None:
        """Let the files go once nobody reads them any more."""
        self._latest = None

    def _with_vectors(self, index: Index, progress: Progress | None) -> IndexSnapshot:
        if self._vectors is None:
            return IndexSnapshot(index)
        for _ in range(_RETRIES):
            head = read_head(self._folder, None)
            if head.manifest == index.manifest:
                made = self._vectors(index, self._folder, head.checksums[EMBEDDINGS], progress)
                return IndexSnapshot(index, made)
            index = self._load()
        raise IndexUnusableError(reason=Phrase("index_busy"))

    def _newest(self) -> IndexSnapshot:
        with self._lock:
            stamp = self.stamp()
            if self._latest is None or self._latest[0] != stamp:
                self._latest = (stamp, self.open())
            return self._latest[1]

    def _holds(self, index: Index) -> bool:
        try:
            head = read_head(self._folder, None)
        except OtvetError:
            return False
        return (head.manifest, head.calibration) == (index.manifest, index.calibration)

    def _known_ids(self) -> set[str] | None:
        try:
            return {chunk.id for chunk in self._load().chunks}
        except IndexUnusableError:
            return None  # nothing there, or nothing that could be read: all of it is new


def _packed(index: Index) -> Index:
    """The index with token vectors in one byte a number, as they are in files."""
    if isinstance(index.tokens, QuantisedTokens | GatheredTokens):
        return index
    rows = (index.tokens[row] for row in range(len(index.tokens)))
    packed = pack_tokens([(quantise(one.vectors), one.spans) for one in rows], index.manifest.dimension)
    return replace(index, tokens=packed)
