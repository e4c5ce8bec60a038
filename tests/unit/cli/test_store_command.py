"""otvet index --store, otvet store: filled, copied, compared, told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from store_bases import Paper, base

from pipeline import bootstrap
from pipeline.cli import console
from pipeline.cli.main import main
from pipeline.embedders.hash import HashEmbedder
from pipeline.errors import SettingsError, StoreNotWrittenError
from pipeline.indexing import EmbedderSource
from pipeline.retrieval.local_store import LocalStore
from pipeline.settings import Settings
from pipeline.store_copy import copy_store, difference, store_state
from pipeline.storing import agreement, with_kind

PAPERS = (Paper("a.txt", ["Отпуск длится 28 дней.", "Склад закрыт."]), Paper("b.txt", ["Пароль у Анны."]))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(console, "_overrides", {})
    monkeypatch.setattr(
        bootstrap, "embedder_source", lambda _: EmbedderSource("hash/64", "none", HashEmbedder)
    )
    (tmp_path / "knowledge_base").mkdir()
    (tmp_path / "knowledge_base" / "a.txt").write_text("[Тема] Отпуск\nОтпуск длится 28 дней.\n", "utf-8")
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    monkeypatch.setenv("OTVET_LANGUAGE", "en")
    return tmp_path


def run(*arguments: str) -> int:
    try:
        main(list(arguments))
    except SystemExit as left:
        return int(str(left.code))
    return 0


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    capsys.readouterr()
    run(*arguments, "--json")
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_index_fills_the_store_that_is_asked_for(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "index", "--store", "faiss-flat")["store"] == {
        "kind": "faiss-flat", "added": 0, "removed": 0, "kept": 1,
    }  # fmt: skip
    assert next((home / "embeddings" / "beside" / "faiss-flat").glob("*/record.json")).is_file()
    assert told(capsys, "index")["current"] is True


def test_every_store_is_listed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stores = told(capsys, "store", "list")["stores"]
    assert isinstance(stores, list)
    assert [one["kind"] for one in stores if one["used"]] == ["json"]
    assert {one["kind"]: one["extra"] for one in stores} == {
        "json": None,
        "faiss-flat": "faiss",
        "faiss-hnsw": "faiss",
        "chroma": "chroma",
        "postgres": "postgres",
        "qdrant": "qdrant",
    }
    run("store", "list")
    assert "* json" in capsys.readouterr().out


def test_the_state_of_a_store_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("store", "status") == 4
    assert "empty" in capsys.readouterr().out
    run("index")
    found = told(capsys, "store", "status")
    assert (found["state"], found["chunks"], found["kind"]) == ("current", 1, "json")
    assert told(capsys, "store", "status", "faiss-flat")["state"] == "empty"  # and it is not made now
    assert run("store", "status", "postgres") == 3
    assert "store.url" in capsys.readouterr().err


def test_a_copy_is_compared(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("index")
    found = told(capsys, "store", "copy", "json", "faiss-hnsw")
    assert found == {
        "from": "json", "to": "faiss-hnsw", "equal": True, "added": 0, "removed": 0, "kept": 1,
    }  # fmt: skip
    assert run("store", "copy", "json", "chroma") == 0
    assert "both stores hold the same" in capsys.readouterr().out


def test_a_copy_that_differs_is_an_error(tmp_path: Path) -> None:
    class Forgetful(LocalStore):
        def read(self):  # type: ignore[no-untyped-def]
            index = super().read()
            return replace(index, vectors=index.vectors[::-1])

    one, other = LocalStore(tmp_path / "a"), Forgetful(tmp_path / "b", "faiss-flat")
    one.write(base(PAPERS))
    with pytest.raises(StoreNotWrittenError, match="vectors of"):
        copy_store(one, other)
    assert copy_store(one, LocalStore(tmp_path / "c")).added == 3
    assert copy_store(one, LocalStore(tmp_path / "c")).kept == 3


def test_what_differs_is_named() -> None:
    index = base(PAPERS)
    assert difference(index, base(PAPERS)) is None
    parts = {
        "manifest": replace(index, manifest=replace(index.manifest, build_id="x")),
        "document": replace(index, documents={}),
        "chunks": replace(index, chunks=index.chunks[:1]),
        "chunk": replace(index, chunks=(replace(index.chunks[0], topic="x"), *index.chunks[1:])),
    }
    for name, other in parts.items():
        found = difference(other, index)
        assert found is not None
        assert name in found.text("en")


def test_a_shared_server_may_hold_more() -> None:
    index = base(PAPERS)
    others = base((*PAPERS, Paper("other.txt", ["Чужое."])))
    assert difference(others, index) is None
    found = difference(replace(others, vectors=others.vectors[::-1]), index)
    assert found is not None
    assert "vectors" in found.text("en")


def test_several_sources_may_share_a_server() -> None:
    own = base(PAPERS).manifest
    assert agreement(own, own, "main") == "current"
    files = {**own.files, "other.txt": "sum"}
    assert agreement(replace(own, build_id="x", files=files), own, "main") == "shared"
    renamed = {"main:a.txt": own.files["a.txt"], "a.txt": "sum", "b.txt": own.files["b.txt"]}
    assert agreement(replace(own, build_id="x", files=renamed), own, "main") == "shared"
    assert agreement(replace(own, build_id="x"), own, "main") == "stale"
    assert (
        agreement(replace(own, build_id="x", files={"a.txt": "sum", "c": "", "d": ""}), own, "m") == "stale"
    )


def test_a_store_of_another_version_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=tmp_path)
    LocalStore(settings.embeddings).write(base(PAPERS))
    older = LocalStore(tmp_path / "older")
    older.write(base(PAPERS[:1]))
    monkeypatch.setattr("pipeline.store_copy.create_store", lambda _: older)
    found = store_state(settings, "qdrant")
    assert (found.state, found.chunks, found.kb_version) == ("stale", 2, base(PAPERS[:1]).manifest.build_id)
    alone = Settings(home=tmp_path / "elsewhere")
    assert store_state(alone, "qdrant").state == "alone"


def test_a_server_needs_an_address() -> None:
    with pytest.raises(SettingsError, match=r"store\.url"):
        with_kind(Settings(), "postgres")
    made = with_kind(Settings(), "postgres", "postgresql://u:geheim@h/b")
    assert made.store.url.get_secret_value().endswith("h/b")
    assert "geheim" not in repr(made)
