"""The index of a home folder brought up to date: only what has changed is read, cut and embedded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pipeline.calibrate import calibrate, calibrated, is_calibrated
from pipeline.embedders.deferred import DeferredEmbedder
from pipeline.errors import IndexMissingError, IndexUnusableError, KnowledgeBaseMissingError
from pipeline.index import Index, Manifest
from pipeline.ingest.build import BuildReport, build_collected
from pipeline.ingest.collect import KnownFiles, collect
from pipeline.ingest.earlier import difference
from pipeline.ingest.holdings import FileState, FileStatus, holdings
from pipeline.ingest.manifest import made_like, make_manifest, spec_of
from pipeline.ingest.survey import is_current, survey
from pipeline.lazy import Lazy
from pipeline.messages import Phrase
from pipeline.ports import Embedder, EmbedderSpec, Progress
from pipeline.settings import Settings
from pipeline.stores import json_store
from pipeline.stores.faults import writing
from pipeline.stores.journal import JOURNAL, Journal
from pipeline.stores.lock import index_lock

__all__ = ["EmbedderSource", "IndexStatus", "index_is_current", "index_status", "update_index"]


@dataclass(frozen=True, slots=True)
class EmbedderSource:
    """An embedder that is not loaded yet.

    Attributes:
        id: What its ``spec.id`` will be.
        prefix_scheme: What its ``spec.prefix_scheme`` will be.
        load: Loads it.
    """

    id: str
    prefix_scheme: Literal["e5", "none"]
    load: Callable[[], Embedder]

    def kept(self) -> EmbedderSource:
        """The same, but loaded once however often it is asked for."""
        return replace(self, load=Lazy(self.load).get)


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How an index stands to its knowledge base.

    Attributes:
        kb_version: The index's ``build_id``; empty where there is none yet.
        files: Every file of the knowledge base and of the index, by name.
        difference: What would be made otherwise today, for another reason than the files.
    """

    kb_version: str
    files: tuple[FileStatus, ...]
    difference: Phrase | None = None

    @property
    def is_current(self) -> bool:
        """True if there is nothing to bring up to date."""
        as_known = all(status.state in ("indexed", "skipped") for status in self.files)
        return bool(self.kb_version) and as_known and self.difference is None

    def count(self, state: FileState) -> int:
        """How many files are in this state."""
        return sum(status.state == state for status in self.files)


def update_index(
    settings: Settings,
    source: EmbedderSource,
    *,
    rebuild: bool = False,
    progress: Progress | None = None,
    folder: Path | None = None,
    calibrating: bool = False,
) -> BuildReport | None:
    """Index the knowledge base; None when the index is current already.

    The old index stays whole and in use until the new one is written. What an interrupted run has
    encoded is taken from its journal. The embedder is loaded only if something has to be cut or encoded.

    Args:
        settings: Where everything lies, and the sizes of chunks.
        source: The embedder in force.
        rebuild: Read, cut and encode everything again.
        progress: Called with (characters embedded, characters in all).
        folder: Where the index goes, if not to its own place; that one's vectors are of use to it.
        calibrating: Also find where refusal has its threshold here, which needs the embedder.

    Raises:
        IndexLockedError: Another process is indexing.
        IndexNotWrittenError: The disk is full or closed to writing; the old index is whole.
        KnowledgeBaseMissingError: The folder of the documents that are in the index is gone.
        ModelMissingError: The embedder is not installed.
    """
    folder = folder or settings.embeddings
    with index_lock(folder), Journal(folder / JOURNAL) as journal:
        own = None if rebuild else _previous(folder)
        previous = own or (None if rebuild else _previous(settings.embeddings))
        embedder = DeferredEmbedder(source.load, _known_spec(previous, source))
        _check_knowledge_base(settings)
        known = KnownFiles(previous.manifest, previous.documents.values()) if previous else None
        collection = collect(settings.knowledge_base, known)
        if own and make_manifest(collection, embedder.spec, settings.index) == own.manifest:
            with writing(folder):
                json_store.remove_leftovers(folder)
                if calibrating and not is_calibrated(own):
                    json_store.save_calibration(calibrate(own, embedder), folder)
            journal.remove()
            return None
        built = build_collected(
            collection, embedder, settings.index, progress, book=journal, previous=previous
        )
        index = calibrated(built.index, embedder) if calibrating else built.index
        with writing(folder):
            json_store.save(index, folder)
        journal.remove()
    return built.report


def index_status(settings: Settings, source: EmbedderSource) -> IndexStatus:
    """How the index stands to the knowledge base; nothing is loaded, read or built.

    Raises:
        IndexDamagedError: The index cannot be read.
    """
    try:
        index = json_store.load(settings.embeddings)
    except IndexMissingError:
        nothing = Manifest("", "", 0, "none", {}, {})
        return IndexStatus("", tuple(survey(settings.knowledge_base, nothing)))
    manifest = index.manifest
    spec = _known_spec(index, source) or EmbedderSpec(source.id, manifest.dimension, source.prefix_scheme, 0)
    return IndexStatus(
        manifest.build_id,
        tuple(survey(settings.knowledge_base, manifest, holdings(index))),
        difference(manifest, made_like(manifest, spec, settings.index)),
    )


def index_is_current(settings: Settings, embedder: Embedder) -> bool:
    """True when the index on disk is whole and says the same as a new one would."""
    try:
        manifest = json_store.load(settings.embeddings, embedder.spec).manifest
    except IndexUnusableError:
        return False  # missing, damaged or made otherwise: build it
    return is_current(manifest, settings.knowledge_base, embedder.spec, settings.index)


def _check_knowledge_base(settings: Settings) -> None:
    """An absent folder is an empty one, but not where it held something: it may only be out of reach."""
    if settings.knowledge_base.is_dir():
        return
    try:
        manifest = json_store.read_manifest(settings.embeddings)
    except IndexUnusableError:
        return
    if manifest.files:
        raise KnowledgeBaseMissingError(path=settings.knowledge_base, files=len(manifest.files))


def _previous(folder: Path) -> Index | None:
    try:
        index = json_store.load(folder)
        return replace(index, documents=dict(index.documents))  # all are looked at several times
    except IndexUnusableError:
        return None  # missing or damaged: everything is made anew


def _known_spec(previous: Index | None, source: EmbedderSource) -> EmbedderSpec | None:
    spec = spec_of(previous.manifest) if previous else None
    if spec is not None and (spec.id, spec.prefix_scheme) == (source.id, source.prefix_scheme):
        return spec
    return None
