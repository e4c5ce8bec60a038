"""What a service is made of, how it is loaded, and how it stands."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.errors import IndexUnusableError, OtvetError, RemoteError
from pipeline.generators.worker import GeneratorWorker
from pipeline.hardware import memory, resident_bytes
from pipeline.index import Index
from pipeline.index_report import IndexReport
from pipeline.lazy import Lazy
from pipeline.ports import Embedder, Reranker
from pipeline.settings import Settings
from pipeline.versions import AtHand, Versions

if TYPE_CHECKING:
    from pipeline.tables.answers import Tables

__all__ = ["Parts", "Readiness"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a service is made of; nothing is loaded until it is needed or ``start`` is called.

    Attributes:
        index: The current index of this machine; another one whenever it was renewed.
        embedder: Encodes questions; the one that made the index.
        cross_encoder: For ``-ce``; holds None where none is installed.
        worker: Starts the generator's worker; None in a profile without a generator.
        versions: What is searched; None: ``index``, as it is at the moment.
        tables: Answers over declared databases; None where there are none.
    """

    index: Callable[[], Index]
    embedder: Lazy[Embedder]
    cross_encoder: Lazy[Reranker | None]
    worker: Lazy[GeneratorWorker] | None
    versions: Versions | None = None
    tables: Tables | None = None


class Readiness:
    """Loads the parts of a service and tells how far that is. Thread-safe."""

    def __init__(self, parts: Parts, settings: Settings) -> None:
        self._parts = parts
        self._settings = settings
        self._versions: Versions = parts.versions or AtHand(parts.index)
        self._loading: threading.Thread | None = None
        self._failure: OtvetError | None = None
        self._report = IndexReport()

    @property
    def versions(self) -> Versions:
        """What is searched."""
        return self._versions

    def start(self, *, wait: bool = False, generator: bool = True) -> None:
        """Load in the background, what answers a search first.

        Args:
            wait: Return only when a search can be answered.
            generator: Load the generator too; without, it is loaded when first needed.

        Raises:
            OtvetError: With ``wait``: index or embedder cannot be loaded.
        """
        self._loading = threading.Thread(
            target=self._load, args=(generator,), name="otvet-loading", daemon=True
        )
        self._loading.start()
        if wait:
            self._loading.join()
            if self._failure is not None:
                raise self._failure.again()

    def loading(self) -> bool:
        """True while index and embedder are on their way."""
        return self._loading is not None and self._loading.is_alive()

    def ready(self) -> bool:
        """True once a search can be answered.

        Raises:
            OtvetError: Why index or embedder could not be loaded; an index may still come.
        """
        self._recover()
        if self._failure is not None:
            raise self._failure.again()
        return self._loading is not None and not self.loading()

    def status(self) -> dict[str, object]:
        """Models, index, queue and memory, as JSON values."""
        self._recover()
        embedder = self._parts.embedder.peek()
        worker = self._parts.worker.peek() if self._parts.worker else None
        generator = worker.status() if worker else {}
        loaded = self._failure is None and self._loading is not None and not self.loading()
        return {
            "profile": self._settings.profile,
            "embedder": embedder.spec.id if embedder else None,
            "generator": generator or None,
            "stuck": bool(generator.get("stuck")),
            "store": self._versions.store,
            "index": self._index() if loaded else None,
            "error": self._failure.code if self._failure else None,
            "index_problem": self._index_problem(),
            "memory": {"resident_bytes": resident_bytes(), "available_bytes": memory().available},
        }

    def _index(self) -> dict[str, object] | None:
        """What is searched; None where it cannot be reached just now."""
        try:
            with self._versions.open() as snapshot:
                return self._report.of(snapshot)
        except OtvetError:
            return None  # `_index_problem` tells why

    def _load(self, generator: bool) -> None:
        try:
            self._parts.embedder.get()
            self._opened()
        except OtvetError as error:
            # Kept for /ready and /status; a request that needs the part meets the same error.
            self._failure = error
            logger.error("%s", error)
        except Exception:  # a full disk or a bug: the thread must not end as if all went well
            self._failure = OtvetError()
            logger.exception("loading failed")
        if generator and self._parts.worker is not None:
            self._parts.worker.get()

    def _recover(self) -> None:
        """Forget that there was no index to start with, or no embedder's server, once there is one."""
        may_pass = isinstance(self._failure, IndexUnusableError | RemoteError)
        if may_pass and self._parts.versions is not None:
            try:
                self._opened()
            except OtvetError as error:
                self._failure = error
            else:
                self._failure = None

    def _opened(self) -> None:
        with self._versions.open():
            pass

    def _index_problem(self) -> dict[str, str] | None:
        """Why the index on the disk is not the one in use."""
        problem = self._versions.problem()
        if problem is None:
            return None
        spoken = self._settings.language
        return {"error": problem.code, "message": problem.message(spoken), "hint": problem.hint(spoken)}
