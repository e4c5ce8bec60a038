"""The same questions to a service over each store: the same replies, whatever keeps the index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from store_bases import EMBEDDER, Paper, base
from store_makers import MAKERS

from pipeline.errors import IndexMismatchError, IndexMissingError, NotFoundError
from pipeline.index import Index
from pipeline.lazy import Lazy
from pipeline.ports import EmbedderSpec
from pipeline.retrieval.local_store import LocalStore
from pipeline.service import Parts, QAService
from pipeline.settings import SearchSettings, Settings
from pipeline.snapshot import Store
from pipeline.store_copy import copy_store, difference
from pipeline.types import AskRequest, Filter
from pipeline.versions import SharedVersions

PAPERS = (
    Paper(
        "кадры/отпуск.md",
        ["Отпуск длится 28 дней.", "Заявление на отпуск подают за две недели."],
        topic="Отпуск",
        tags=("кадры",),
        metadata={"date": "2023-01-01"},
        source_type="md",
    ),
    Paper(
        "кадры/отпуск 2024.md", ["Отпуск длится 31 день."], topic="Отпуск", metadata={"date": "2024-01-01"}
    ),
    Paper("склад.txt", ["Склад открыт с девяти до шести.", "Ключ от склада у охраны."], topic="Склад"),
)
QUESTIONS = ("Отпуск длится дней", "Где ключ от склада?", "отпуск -k", "склад открыт -d", "ничего")


def service_over(versions: SharedVersions | None, index: Index) -> QAService:
    settings = Settings(search=SearchSettings(refusal_threshold=0.0))
    parts = Parts(lambda: index, Lazy(lambda: EMBEDDER), Lazy(lambda: None), None, versions)
    service = QAService(parts, settings)
    service.start(wait=True)
    return service


@pytest.fixture(scope="module", params=list(MAKERS))
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = MAKERS[request.param](tmp_path_factory.mktemp("service") / "store", request)
    made.write(base(PAPERS))
    return made


@pytest.fixture(scope="module")
def services(store: Store) -> Iterator[tuple[QAService, QAService]]:
    """One over the store, one over the index itself."""
    index = base(PAPERS)
    pair = (
        service_over(SharedVersions(store.name, lambda: store, lambda: EMBEDDER.spec), index),
        service_over(None, index),
    )
    yield pair
    for service in pair:
        service.close()


def test_replies_are_the_same(services: tuple[QAService, QAService]) -> None:
    for question in QUESTIONS:
        for wanted in (None, Filter(path_prefix="кадры/"), Filter(since="2024"), Filter(tags=("нет",))):
            request = AskRequest(question=question, filter=wanted, top_k=3)
            its, own = (service.ask(request, lambda: False) for service in services)
            assert its.kb_version == own.kb_version
            assert its.answer == own.answer
            assert [source.chunk_id for source in its.sources] == [source.chunk_id for source in own.sources]


def test_contradictions_are_told_with_their_dates(services: tuple[QAService, QAService]) -> None:
    """The dates come from the documents, which a server's store gives one by one."""
    for service in services:
        reply = service.ask(AskRequest(question="Отпуск длится дней"), lambda: False)
        assert "01.01.2024" in reply.answer.text
        assert "01.01.2023" in reply.answer.text


def test_passages_are_shown_and_explained(services: tuple[QAService, QAService]) -> None:
    index = base(PAPERS)
    request = AskRequest(question="Сколько дней длится отпуск?", top_k=1)
    for chunk in index.chunks:
        its, own = (service.source(chunk.id) for service in services)
        assert (its.chunk, its.document) == (own.chunk, own.document)
        found, expected = (service.explain(request, chunk.id) for service in services)
        assert found.kb_version == expected.kb_version
        assert found.standing is not None
        assert expected.standing is not None
        assert (found.standing.passages, found.standing.rank) == (5, expected.standing.rank)
        stages, others = (
            {stage.name: stage.score for stage in one.standing.stages if stage.name != "bm25"}
            for one in (found, expected)
            if one.standing
        )
        assert stages.keys() == others.keys()
        for name in ("cosine", "coverage", "late_interaction"):
            assert stages[name] == pytest.approx(others[name], abs=1e-4)
        words, other_words = (service.match_words("длится отпуск", chunk.id) for service in services)
        assert [match.found for match in words.matches] == [match.found for match in other_words.matches]
    for service in services:
        with pytest.raises(NotFoundError):
            service.source("нет")
        with pytest.raises(NotFoundError):
            service.explain(request, "нет")
        with pytest.raises(NotFoundError):
            service.match_words("отпуск", "нет")


def test_it_is_copied_to_files_and_back(store: Store, tmp_path: Path) -> None:
    """From any store to any other: through the files each of them reaches each."""
    files = LocalStore(tmp_path)
    copy_store(store, files)
    assert difference(files.read(), base(PAPERS)) is None
    report = copy_store(files, store)
    assert (report.added, report.removed, report.kept) == (0, 0, 5)


def test_the_status_names_the_store(services: tuple[QAService, QAService], store: Store) -> None:
    status = services[0].status()
    assert (status["store"], status["error"], status["index_problem"]) == (store.name, None, None)
    index = status["index"]
    assert isinstance(index, dict)
    assert (index["kb_version"], index["chunks"], index["files"]) == (base(PAPERS).manifest.build_id, 5, 3)
    assert [entry["file"] for entry in index["by_file"]][-1:] in (["склад.txt"], ["photo.png"])


def test_a_store_that_is_filled_later_is_found(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    empty = MAKERS["json"](tmp_path / "store", request)
    versions = SharedVersions("json", lambda: empty, lambda: EMBEDDER.spec)
    service = QAService(
        Parts(lambda: base(()), Lazy(lambda: EMBEDDER), Lazy(lambda: None), None, versions), Settings()
    )
    with pytest.raises(IndexMissingError):
        service.start(wait=True)
    assert service.status()["error"] == "index_missing"
    problem = service.status()["index_problem"]
    assert isinstance(problem, dict)
    assert problem["error"] == "index_missing"
    empty.write(base(PAPERS))
    assert service.ready()
    status = service.status()
    assert (status["error"], status["index_problem"]) == (None, None)
    assert service.ask(AskRequest(question="отпуск"), lambda: False).sources
    service.close()


def test_an_index_of_another_embedder_is_refused(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Case 21."""
    store = MAKERS["json"](tmp_path / "store", request)
    store.write(base(PAPERS))
    versions = SharedVersions("json", lambda: store, lambda: EmbedderSpec("other", 32, "none", 100))
    with pytest.raises(IndexMismatchError), versions.open():
        pass
    assert isinstance(versions.problem(), IndexMismatchError)
