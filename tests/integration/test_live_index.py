"""A running service takes new indexes: no request fails, every answer is from one version."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from indexing_process import SlowEmbedder, settings_for, source_of

from pipeline import bootstrap, storing
from pipeline.errors import IndexMissingError, NotFoundError
from pipeline.indexing import update_index
from pipeline.ports import Embedder
from pipeline.service import QAService
from pipeline.settings import Settings
from pipeline.stores import json_store
from pipeline.stores.live import LiveIndex
from pipeline.types import AskRequest, Reply

SWITCHES = 20
QUESTION = "Сколько дней отпуск?"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    embedder = SlowEmbedder()
    monkeypatch.setattr(bootstrap, "create_embedder", lambda _: embedder)
    monkeypatch.setattr(bootstrap, "create_generator", lambda _: None)
    monkeypatch.setattr(storing, "LiveIndex", partial(LiveIndex, seconds=0.01, check_after=0.05))
    made = settings_for(tmp_path)
    made.knowledge_base.mkdir()
    return made


@pytest.fixture
def service(settings: Settings) -> Iterator[QAService]:
    made = bootstrap.create_service(settings)
    yield made
    made.close()


def write(settings: Settings, version: int) -> str:
    """A knowledge base whose every passage names its version, indexed; the index's version."""
    for number in range(8):
        text = f"# Отпуск {number}\n\nОтпуск длится {number} дней, редакция {version}. Ещё одна строка.\n"
        (settings.knowledge_base / f"{number}.md").write_text(text, "utf-8")
    embedder: Embedder = SlowEmbedder()
    update_index(settings, source_of(embedder))
    return json_store.read_manifest(settings.embeddings).build_id


def test_switches_under_load(settings: Settings, service: QAService) -> None:
    versions = {write(settings, 0): 0}
    service.start(wait=True)
    replies: list[Reply] = []
    done = threading.Event()

    def ask() -> None:
        while not done.wait(0.005):  # else the threads that ask would leave no time to those that index
            reply = service.ask(AskRequest(question=QUESTION), lambda: False)
            replies.append(reply)
            try:
                assert service.source(reply.sources[0].chunk_id).document.text
            except NotFoundError:
                # A source of an answer from an earlier version is rightly not found in a later one.
                assert service.status()["index"]["kb_version"] != reply.kb_version

    with ThreadPoolExecutor(3) as pool:
        askers = [pool.submit(ask) for _ in range(3)]
        try:
            for version in range(1, SWITCHES + 1):
                build = write(settings, version)
                versions[build] = version
                _until(lambda build=build: service.status()["index"]["kb_version"] == build)
            count = len(replies)
            _until(lambda: len(replies) > count + 3)
        finally:
            done.set()
            for asker in askers:
                asker.result()
    seen = set()
    for reply in replies:
        version = versions[reply.kb_version]
        seen.add(version)
        assert len(reply.sources) == 3
        quotes = " ".join(source.quote for source in reply.sources)
        assert {int(found) for found in re.findall(r"редакция (\d+)", quotes)} == {version}
    assert SWITCHES in seen
    assert len(seen) > SWITCHES // 2


def _until(condition: Callable[[], bool]) -> None:
    for _ in range(4000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError


def test_an_index_that_comes_later_makes_the_service_ready(settings: Settings, service: QAService) -> None:
    with pytest.raises(IndexMissingError):
        service.start(wait=True)
    with pytest.raises(IndexMissingError):
        service.ready()
    assert service.status()["error"] == "index_missing"
    write(settings, 0)

    def is_ready() -> bool:
        try:
            return service.ready()
        except IndexMissingError:
            return False

    _until(is_ready)
    assert service.ask(AskRequest(question=QUESTION), lambda: False).sources
    status = service.status()
    assert (status["error"], status["index_problem"]) == (None, None)


def test_a_damaged_index_is_told_and_the_old_one_serves(settings: Settings, service: QAService) -> None:
    """Case 20."""
    first = write(settings, 0)
    service.start(wait=True)
    kept = settings.home / "kept"
    shutil.copytree(settings.embeddings, kept)
    for name in ("chunks.json", "embeddings.json", "documents.json"):
        (settings.embeddings / name).unlink()
    (settings.embeddings / "manifest.json").touch()
    _until(lambda: service.status()["index_problem"] is not None)
    problem = service.status()["index_problem"]
    assert problem["error"] == "index_damaged"
    assert "otvet index" in problem["hint"]
    assert service.ready()
    assert service.ask(AskRequest(question=QUESTION), lambda: False).kb_version == first
    second = write(settings, 1)
    _until(lambda: service.status()["index_problem"] is None)
    assert service.ask(AskRequest(question=QUESTION), lambda: False).kb_version == second
