"""Versions of a shared store: one for each request, and the store's own words for what goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from store_bases import EMBEDDER, Paper, base

from pipeline.errors import StoreUnreachableError
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.versions import SharedVersions


class FadingStore:
    """Its connection may be lost while a snapshot is open; it alone knows the driver's errors."""

    name = "postgres"

    def __init__(self) -> None:
        self.open = 0

    @contextmanager
    def snapshot(self) -> Iterator[IndexSnapshot]:
        self.open += 1
        try:
            yield IndexSnapshot(base([Paper("a.md", ["Отпуск длится 28 дней."])]))
        except ConnectionError as error:
            raise StoreUnreachableError(store=self.name, address="db", reason=str(error)) from error
        finally:
            self.open -= 1


def test_a_connection_lost_during_a_request_is_told_in_the_words_of_the_store():
    """A driver's error that passed the store by would be a 500 instead of a 503."""
    store = FadingStore()
    versions = SharedVersions(store.name, lambda: store, lambda: EMBEDDER.spec)

    def ask() -> None:
        with versions.open() as snapshot:
            assert snapshot.statistics.chunks == 1
            raise ConnectionError("server closed the connection unexpectedly")

    with pytest.raises(StoreUnreachableError):
        ask()
    assert store.open == 0
    with versions.open() as snapshot:
        assert snapshot.chunk("none") is None
    assert (store.open, versions.problem()) == (0, None)
