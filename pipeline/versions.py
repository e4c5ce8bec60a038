"""Versions of a knowledge base as a service uses them: one for each request, from its first look on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol

from pipeline.calibrate import method
from pipeline.errors import OtvetError
from pipeline.fusion import Fusion
from pipeline.index import Calibration, Index, Manifest
from pipeline.ports import EmbedderSpec
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.snapshot import Asked, Excerpt, Snapshot, Store, TermStatistics
from pipeline.stores.live import LiveIndex
from pipeline.stores.parts import check_embedder
from pipeline.types import Chunk, Document, Filter, SearchMode

__all__ = ["AtHand", "LiveVersions", "SharedVersions", "Versions"]


class Versions(Protocol):
    """Gives the newest version to whoever asks. Safe to use from many threads."""

    @property
    def store(self) -> str:
        """The setting ``store.kind``."""
        ...

    def open(self) -> AbstractContextManager[Snapshot]:
        """The newest version that can be used.

        Raises:
            IndexUnusableError: There is none.
        """
        ...

    def problem(self) -> OtvetError | None:
        """Why a newer one is not in use; None if the newest is."""
        ...

    def close(self) -> None:
        """Look for newer ones no more, and give back what is open."""
        ...


@dataclass(frozen=True, slots=True)
class AtHand:
    """`Versions` of an index that somebody else looks after."""

    index: Callable[[], Index]
    store: str = "json"

    @contextmanager
    def open(self) -> Iterator[Snapshot]:
        """The index of this moment."""
        yield IndexSnapshot(self.index())

    def problem(self) -> OtvetError | None:
        """None: nobody here knows."""
        return None

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class LiveVersions:
    """`Versions` of the files of this machine, loaded once and renewed in the background."""

    live: LiveIndex[IndexSnapshot]
    store: str

    @contextmanager
    def open(self) -> Iterator[Snapshot]:
        """The loaded one; nothing waits for a newer one."""
        yield self.live.get()

    def index(self) -> Index:
        """The loaded index as a whole."""
        return self.live.get().index

    def problem(self) -> OtvetError | None:
        """Why the index on the disk is not the one in use."""
        return self.live.problem()

    def close(self) -> None:
        """Look for newer ones no more; the present one stays usable."""
        self.live.close()


class SharedVersions:
    """`Versions` of a store that several machines share: asked anew for each request.

    Args:
        made: The store, once it is needed.
        spec: Of the embedder that questions are encoded with.
        fits: Why a version in the store is not the one it should hold; None if it is.
    """

    def __init__(
        self,
        name: str,
        made: Callable[[], Store],
        spec: Callable[[], EmbedderSpec],
        fits: Callable[[Manifest], OtvetError | None] = lambda _: None,
    ) -> None:
        self.store = name
        self._fits = fits
        self._seen: Manifest | None = None
        self._made = made
        self._spec = spec
        self._lock = threading.Lock()
        self._opened: Store | None = None
        self._problem: OtvetError | None = None

    @contextmanager
    def open(self) -> Iterator[Snapshot]:
        """The newest version in the store.

        Raises:
            IndexMissingError: Nothing has been written yet.
            IndexMismatchError: It was made by another embedder.
            StoreUnreachableError: The server does not answer, or is lost before the request is done.
        """
        with ExitStack() as opened:
            try:
                snapshot = opened.enter_context(self._store().snapshot())
            except OtvetError as error:
                self._problem = error
                raise
            self._check(snapshot.manifest)
            # What goes wrong in here passes through the store, which knows its library's errors.
            yield _InForce(snapshot)

    def problem(self) -> OtvetError | None:
        """Why the last request found nothing to search, or not what it should have."""
        return self._problem or (self._fits(self._seen) if self._seen else None)

    def close(self) -> None:
        """Give back connections."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _check(self, manifest: Manifest) -> None:
        try:
            check_embedder(manifest, self._spec())
        except OtvetError as error:
            self._problem = error
            raise
        self._problem, self._seen = None, manifest

    def _store(self) -> Store:
        with self._lock:
            if self._opened is None:
                self._opened = self._made()
            return self._opened


@dataclass(frozen=True, slots=True)
class _InForce:
    """A snapshot without a calibration that was made for another model of refusal."""

    of: Snapshot

    @property
    def manifest(self) -> Manifest:
        return self.of.manifest

    @property
    def calibration(self) -> Calibration | None:
        known = self.of.calibration
        return known if known and known.method == method(self.of.manifest.embedder_id) else None

    @property
    def statistics(self) -> TermStatistics:
        return self.of.statistics

    def candidates(
        self, asked: Asked, wanted: Filter | None, *, mode: SearchMode, fusion: Fusion, count: int
    ) -> Excerpt:
        return self.of.candidates(asked, wanted, mode=mode, fusion=fusion, count=count)

    def listing(self, wanted: Filter | None, count: int) -> Excerpt:
        return self.of.listing(wanted, count)

    def chunk(self, chunk_id: str) -> Chunk | None:
        return self.of.chunk(chunk_id)

    def document(self, document_id: str) -> Document | None:
        return self.of.document(document_id)
