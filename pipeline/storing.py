"""The part of the composition root that names the stores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Literal

from pydantic import SecretStr, ValidationError

from pipeline.calibrate import in_force
from pipeline.errors import OtvetError, SettingsError, StoreStaleError
from pipeline.index import Index, Manifest
from pipeline.lazy import Lazy
from pipeline.ports import Embedder, Progress
from pipeline.retrieval.local_store import LocalStore, MakeVectors
from pipeline.settings import Settings, StoreKind, StoreSettings
from pipeline.snapshot import Store, StoreReport
from pipeline.stores import json_store
from pipeline.stores.live import LiveIndex
from pipeline.versions import LiveVersions, SharedVersions, Versions

__all__ = [
    "LOCAL_KINDS",
    "agreement",
    "create_store",
    "create_versions",
    "fill_store",
    "local_store",
    "own_manifest",
    "with_kind",
]

LOCAL_KINDS = ("json", "faiss-flat", "faiss-hnsw", "chroma")
"""Kinds that live in ``embeddings/`` beside the JSON files; the others are servers."""

# Beyond that reading all of an index would drive other files out of memory; `otvet doctor` does it.
_CHECKED_UNASKED = 2 << 30
_SERVERS = {"postgres": "pipeline.stores.postgres.store", "qdrant": "pipeline.stores.qdrant.store"}
"""Kind -> the module whose ``open_store(settings)`` makes it; it brings its library along."""


def create_store(settings: Settings) -> Store:
    """The store that the settings name; nothing is connected to or loaded yet.

    Raises:
        ExtraMissingError: It needs a package that is not installed.
    """
    if settings.store.kind in LOCAL_KINDS:
        return local_store(settings)
    store: Store = import_module(_SERVERS[settings.store.kind]).open_store(settings)
    return store


def local_store(settings: Settings, load: Callable[[], Index] | None = None) -> LocalStore:
    """The JSON files, searched exactly or, as the settings say, by an index of vectors beside them.

    Args:
        settings: Which kind, and where.
        load: Loads the index of the folder; the default needs its binary copies.
    """
    kind = settings.store.kind if settings.store.kind in LOCAL_KINDS else "json"
    return LocalStore(settings.embeddings, kind, _vectors(settings), load)


def with_kind(settings: Settings, kind: StoreKind, url: str | None = None) -> Settings:
    """The settings with another store.

    Raises:
        SettingsError: A server has no address.
    """
    chosen = settings.store.model_dump() | {"kind": kind}
    if url is not None:
        chosen["url"] = SecretStr(url)
    try:
        store = StoreSettings.model_validate(chosen)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise SettingsError(where="store", reason=reason) from error
    return settings.model_copy(update={"store": store})


def fill_store(settings: Settings, progress: Progress | None = None) -> StoreReport | None:
    """Bring the store of the settings up to the JSON files; None where these are the store.

    Raises:
        IndexUnusableError: There are none, or the store cannot be written.
        ExtraMissingError: It needs a package that is not installed.
    """
    if settings.store.kind == "json":
        return None
    store = create_store(settings)
    try:
        return store.write(json_store.load(settings.embeddings), progress)
    finally:
        store.close()


def own_manifest(settings: Settings) -> Manifest | None:
    """The manifest of this machine's JSON files; None where there are none that can be used."""
    try:
        return json_store.read_manifest(settings.embeddings)
    except OtvetError:
        return None


def agreement(stored: Manifest, own: Manifest, source: str) -> Literal["current", "shared", "stale"]:
    """How what a store holds stands to the JSON files.

    Args:
        stored: In the store.
        own: Of the JSON files.
        source: The setting ``store.source``.
    """
    if own.build_id == stored.build_id:
        return "current"
    held = all(
        total in (stored.files.get(file), stored.files.get(f"{source}:{file}"))
        for file, total in own.files.items()
    )
    # Several indexers may fill one server: then it holds more than this one's files.
    return "shared" if held and len(stored.files) > len(own.files) else "stale"


def create_versions(settings: Settings, embedder: Lazy[Embedder]) -> tuple[Versions, Callable[[], Index]]:
    """What a service searches, and the index of this machine's own files; neither is loaded yet.

    Args:
        settings: Which store.
        embedder: The one that questions are encoded with.
    """
    store = local_store(
        settings,
        lambda: in_force(json_store.load(settings.embeddings, embedder.get().spec, embedder.get())),
    )
    live = LiveIndex(
        store.open,
        store.stamp,
        check=lambda: json_store.check_copies(settings.embeddings, share=0.25, largest=_CHECKED_UNASKED),
    )
    own = LiveVersions(live, store.name)
    if settings.store.kind in LOCAL_KINDS:
        return own, own.index

    def stale(stored: Manifest) -> OtvetError | None:
        ours = own_manifest(settings)
        if ours is None or agreement(stored, ours, settings.store.source) != "stale":
            return None
        kind = settings.store.kind
        return StoreStaleError(store=kind, found=stored.build_id, expected=ours.build_id)

    spec = Lazy(lambda: embedder.get().spec)
    return SharedVersions(settings.store.kind, lambda: create_store(settings), spec.get, stale), own.index


def _vectors(settings: Settings) -> MakeVectors | None:
    chosen = settings.store
    if chosen.kind.startswith("faiss"):
        from pipeline.stores.faiss import open_faiss

        return partial(open_faiss, chosen)
    if chosen.kind == "chroma":
        from pipeline.stores.chroma import open_chroma

        return partial(open_chroma, chosen)
    return None
