"""Every store under its name, each empty: what the contract suite of the stores runs over.

A new store registers itself here, with what it needs, and is tested like all the others::

    @maker("mine")
    def _mine(folder: Path, request: pytest.FixtureRequest) -> Store:
        return MyStore(folder)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.bootstrap import create_store
from pipeline.retrieval.local_store import LocalStore
from pipeline.settings import load_settings
from pipeline.snapshot import Store

__all__ = ["MAKERS", "maker"]

Maker = Callable[[Path, pytest.FixtureRequest], Store]

MAKERS: dict[str, Maker] = {}
"""Name -> makes an empty store, in a folder of its own or in a database that the request's fixtures give."""


def maker(name: str) -> Callable[[Maker], Maker]:
    """Register a store under the name that the setting ``store.kind`` has for it."""

    def registered(make: Maker) -> Maker:
        MAKERS[name] = make
        return make

    return registered


def _local(kind: str) -> None:
    @maker(kind)
    def _made(folder: Path, request: pytest.FixtureRequest) -> Store:
        del request
        overrides = {"home": str(folder), "store.kind": kind}
        return create_store(load_settings(overrides, {}).settings)


for _kind in ("faiss-flat", "faiss-hnsw", "chroma"):
    _local(_kind)


@maker("json")
def _json(folder: Path, request: pytest.FixtureRequest) -> Store:
    del request
    return LocalStore(folder)


@maker("qdrant")
def _qdrant(folder: Path, request: pytest.FixtureRequest) -> Store:
    del request
    from pipeline.stores.qdrant.store import QdrantStore

    return QdrantStore(folder=folder)


@maker("qdrant-server")
def _qdrant_server(folder: Path, request: pytest.FixtureRequest) -> Store:
    """By HTTP, to a stand-in for the server."""
    from qdrant_server import serve_qdrant

    from pipeline.stores.qdrant.store import QdrantStore

    del folder
    serving = serve_qdrant()
    url = serving.__enter__().url
    request.addfinalizer(lambda: serving.__exit__(None, None, None))
    return QdrantStore(url)


@maker("postgres")
def _postgres(folder: Path, request: pytest.FixtureRequest) -> Store:
    """A database of its own on the real server of the tests, dropped when the test (or module) is over."""
    del folder
    from postgres_server import Server

    from pipeline.stores.postgres.store import PostgresStore

    server: Server = request.getfixturevalue("postgres_server")
    database = server.database()
    url = database.__enter__()
    request.addfinalizer(lambda: database.__exit__(None, None, None))
    return PostgresStore(url)
