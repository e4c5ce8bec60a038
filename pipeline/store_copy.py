"""A knowledge base taken from one store to another as it is, and how a store stands to the JSON files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pipeline.errors import IndexMissingError, OtvetError, StoreNotWrittenError
from pipeline.index import Index
from pipeline.messages import Phrase
from pipeline.ports import Progress
from pipeline.settings import Settings, StoreKind
from pipeline.snapshot import Store, StoreReport
from pipeline.stores.parts import EMBEDDINGS, read_head
from pipeline.stores.side_folder import Beside
from pipeline.storing import LOCAL_KINDS, agreement, create_store, own_manifest, with_kind

__all__ = ["StoreState", "copy_store", "difference", "store_state"]

State = Literal["current", "shared", "stale", "empty", "unusable", "alone"]
"""``shared``: holds these files and others too; ``alone``: this machine has no files to compare it with."""


@dataclass(frozen=True, slots=True)
class StoreState:
    """How a store stands.

    Attributes:
        kind: As the setting ``store.kind``.
        kb_version: Of what it holds; empty where that is nothing.
        chunks: How many it holds.
        error: Why it is ``unusable``.
    """

    kind: str
    state: State
    kb_version: str = ""
    chunks: int = 0
    error: OtvetError | None = None


def copy_store(
    source: Store, target: Store, progress: Progress | None = None, name: str = "main"
) -> StoreReport:
    """Make one store hold what another one holds; nothing is embedded.

    What is there already is not sent again, so an interrupted copy is simply begun anew.

    Args:
        source: The store to read.
        target: The store to write.
        progress: Told of (chunks done, chunks in all).
        name: Under which the target, if several indexers share it, keeps what is copied (``store.source``).

    Raises:
        IndexMissingError: There is nothing to copy.
        StoreNotWrittenError: It could not be written, or does not hold the same afterwards.
    """
    index = source.read()
    report = target.write(index, progress)
    differing = difference(target.read(), index, name)
    if differing is not None:
        raise StoreNotWrittenError(store=target.name, reason=differing)
    return report


def difference(stored: Index, index: Index, name: str = "main") -> Phrase | None:
    """In what a store differs from what was written into it; None if it holds the same, in whatever order.

    One that several indexers share may hold more.
    """
    shared = agreement(stored.manifest, index.manifest, name) == "shared"
    if not shared and (stored.manifest, stored.calibration) != (index.manifest, index.calibration):
        return _differs("manifest")
    for document in index.documents.values():
        if stored.documents.get(document.id) != document:
            return _differs(f"document {document.id}")
    if not shared and len(stored.chunks) != len(index.chunks):
        return _differs(f"chunks: {len(stored.chunks)} != {len(index.chunks)}")
    places = {chunk.id: place for place, chunk in enumerate(stored.chunks)}
    for row, chunk in enumerate(index.chunks):
        place = places.get(chunk.id, -1)
        if place < 0 or stored.chunks[place] != chunk:
            return _differs(f"chunk {chunk.id}")
        if not _same_vectors(index, row, stored, place):
            return _differs(f"vectors of {chunk.id}")
    return None


def _differs(what: str) -> Phrase:
    return Phrase("store_differs", {"what": what})


def store_state(settings: Settings, kind: StoreKind) -> StoreState:
    """How a store stands to the JSON files of this machine; what is wrong with it is told, not raised.

    Nothing is made that is missing.
    """
    if kind in LOCAL_KINDS:
        return _local_state(settings, kind)
    try:
        store = create_store(with_kind(settings, kind))
        try:
            with store.snapshot() as snapshot:
                stored, chunks = snapshot.manifest, snapshot.statistics.chunks
        finally:
            store.close()
    except IndexMissingError:
        return StoreState(kind, "empty")
    except OtvetError as error:
        return StoreState(kind, "unusable", error=error)
    own = own_manifest(settings)
    state: State = "alone" if own is None else agreement(stored, own, settings.store.source)
    return StoreState(kind, state, stored.build_id, chunks)


def _local_state(settings: Settings, kind: StoreKind) -> StoreState:
    try:
        head = read_head(settings.embeddings, None)
    except IndexMissingError:
        return StoreState(kind, "empty")
    except OtvetError as error:
        return StoreState(kind, "unusable", error=error)
    beside = Beside(settings.embeddings, kind, head.manifest.build_id, head.checksums[EMBEDDINGS], {})
    if kind != "json" and not beside.exists():
        return StoreState(kind, "empty")
    return StoreState(kind, "current", head.manifest.build_id, head.count)


def _same_vectors(one: Index, row: int, other: Index, place: int) -> bool:
    tokens, others = one.tokens[row], other.tokens[place]
    return (
        np.array_equal(one.vectors[row], other.vectors[place])
        and np.array_equal(one.text_vectors[row], other.text_vectors[place])
        and np.array_equal(tokens.spans, others.spans)
        and np.allclose(tokens.vectors, others.vectors, atol=1e-5)
    )
