"""The part of the composition root that names the stores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

from pipeline.index import Index
from pipeline.retrieval.local_store import LocalStore, MakeVectors
from pipeline.settings import Settings
from pipeline.snapshot import Store

__all__ = ["LOCAL_KINDS", "create_store", "local_store"]

LOCAL_KINDS = ("json", "faiss-flat", "faiss-hnsw", "chroma")
"""Kinds that live in ``embeddings/`` beside the JSON files; the others are servers."""

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
    return LocalStore(settings.embeddings, settings.store.kind, _vectors(settings), load)


def _vectors(settings: Settings) -> MakeVectors | None:
    chosen = settings.store
    if chosen.kind.startswith("faiss"):
        from pipeline.stores.faiss import open_faiss

        return partial(open_faiss, chosen)
    if chosen.kind == "chroma":
        from pipeline.stores.chroma import open_chroma

        return partial(open_chroma, chosen)
    return None
