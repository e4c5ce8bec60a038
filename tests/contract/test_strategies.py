"""Every strategy with every reranker over every store: a way to search knows the port only."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from store_bases import EMBEDDER, Paper, base
from store_makers import MAKERS

from pipeline.compare.ways import Way, every_way
from pipeline.rerankers.overlap import OverlapReranker
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.retrieval.search import retrieve_from
from pipeline.settings import SearchSettings
from pipeline.snapshot import Snapshot, Store
from pipeline.types import Filter, Query, Retrieval

PAPERS = (
    Paper("кадры/отпуск.md", ["Отпуск длится 28 дней.", "Перенос отпуска возможен."], topic="Отпуск"),
    Paper("кадры/поездки.md", ["Командировка оформляется приказом."], topic="Командировка"),
    Paper("склад.txt", ["Склад открыт с девяти до шести.", "Ключ у кладовщика."], topic="Склад"),
)
QUESTION = "Сколько дней длится отпуск?"


@pytest.fixture(scope="module", params=list(MAKERS))
def shelf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = MAKERS[request.param](tmp_path_factory.mktemp("strategies") / "store", request)
    made.write(base(PAPERS))
    yield made
    made.close()


def search(snapshot: Snapshot, way: Way, wanted: Filter | None = None) -> Retrieval:
    query = Query(QUESTION, QUESTION, strategy=way.strategy, reranker=way.reranker, filter=wanted)
    return retrieve_from(query, snapshot, EMBEDDER, SearchSettings(), OverlapReranker())


def texts(found: Retrieval) -> list[str]:
    return [hit.chunk.text for hit in found.hits]


@pytest.mark.parametrize("way", every_way(), ids=lambda way: way.name)
def test_a_way_finds_over_a_store_what_it_finds_in_memory(shelf: Store, way: Way) -> None:
    with shelf.snapshot() as snapshot:
        found, again = search(snapshot, way), search(snapshot, way)
    exact = search(IndexSnapshot(base(PAPERS)), way)
    assert texts(found) == texts(again)
    assert texts(found)[0] == texts(exact)[0]
    assert set(texts(found)) == set(texts(exact))
    assert "Отпуск длится 28 дней." in texts(found)
    assert all(math.isfinite(hit.score) for hit in found.hits)


@pytest.mark.parametrize("strategy", dict.fromkeys(way.strategy for way in every_way()))
def test_a_filter_is_obeyed_by_every_strategy(shelf: Store, strategy: str) -> None:
    with shelf.snapshot() as snapshot:
        found = search(snapshot, Way(strategy, "none"), Filter(path_prefix="склад"))
    assert {hit.chunk.file for hit in found.hits} <= {"склад.txt"}
