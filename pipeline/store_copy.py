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
from pipeline.storing import agreement, create_store, own_manifest, with_kind

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


def copy_store(source: Store, target: Store, progress: Progress | None = None) -> StoreReport:
    """Make one store hold what another one holds; nothing is embedded.

    What is there already is not sent again, so an interrupted copy is simply begun anew.

    Args:
        source: The store to read.
        target: The store to write.
        progress: Told of (chunks done, chunks in all).

    Raises:
        IndexMissingError: There is nothing to copy.
        StoreNotWrittenError: It could not be written, or does not hold the same afterwards.
    """
    index = source.read()
    report = target.write(index, progress)
    differing = difference(target.read(), index)
    if differing is not None:
        raise StoreNotWrittenError(store=target.name, reason=differing)
    return report


def difference(one: Index, other: Index) -> Phrase | None:
    """In what two indexes differ; None if they hold the same, in whatever order."""
    if (one.manifest, one.calibration) != (other.manifest, other.calibration):
        return Phrase("store_differs", {"what": "manifest"})
    if dict(one.documents) != dict(other.documents):
        return Phrase("store_differs", {"what": "documents"})
    places = {chunk.id: row for row, chunk in enumerate(other.chunks)}
    if len(one.chunks) != len(places):
        return Phrase("store_differs", {"what": f"chunks ({len(one.chunks)} != {len(places)})"})
    for row, chunk in enumerate(one.chunks):
        place = places.get(chunk.id, -1)
        if place < 0 or other.chunks[place] != chunk:
            return Phrase("store_differs", {"what": f"chunk {chunk.id}"})
        if not _same_vectors(one, row, other, place):
            return Phrase("store_differs", {"what": f"vectors of {chunk.id}"})
    return None


def store_state(settings: Settings, kind: StoreKind) -> StoreState:
    """How a store stands to the JSON files of this machine; what is wrong with it is told, not raised."""
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


def _same_vectors(one: Index, row: int, other: Index, place: int) -> bool:
    tokens, others = one.tokens[row], other.tokens[place]
    return (
        np.array_equal(one.vectors[row], other.vectors[place])
        and np.array_equal(one.text_vectors[row], other.text_vectors[place])
        and np.array_equal(tokens.spans, others.spans)
        and np.allclose(tokens.vectors, others.vectors, atol=1e-5)
    )
