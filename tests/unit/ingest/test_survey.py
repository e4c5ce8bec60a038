"""How files stand to an index: indexed + skipped = found, and nothing is lost silently."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from indexing_process import source_of
from word_embedder import WordEmbedder

from pipeline.errors import IndexDamagedError
from pipeline.index_report import IndexReport
from pipeline.indexing import IndexStatus, index_status, update_index
from pipeline.ingest.holdings import FileStatus, holdings
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.settings import Settings, load_settings
from pipeline.stores import json_store

SOURCE = source_of(WordEmbedder())


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = load_settings({"home": tmp_path}, environ={}).settings
    base = made.knowledge_base
    (base / "d").mkdir(parents=True)
    (base / "a.md").write_text("# Отпуск\n\nОтпуск — 28 дней.\n\n## Ещё\n\nТекст.\n", "utf-8")
    (base / "b.txt").write_bytes("Приказ о приёме на работу".encode("cp1251"))
    (base / "bad.json").write_text("[", "utf-8")
    (base / "d" / "c.png").write_bytes(b"1")
    with sqlite3.connect(base / "base.sqlite") as database:
        database.execute("create table t (a text)")
        database.executemany("insert into t values (?)", [("О кошках.",), ("О собаках.",)])
    database.close()
    table = '[[table]]\ndatabase = "base.sqlite"\ntable = "t"\ntext = "a"\n'
    (base / "sources.toml").write_text(table, "utf-8")
    return made


def states(status: IndexStatus) -> dict[str, str]:
    return {file.file: file.state for file in status.files}


def test_without_an_index_every_file_is_new(settings: Settings) -> None:
    status = index_status(settings, SOURCE)
    assert set(states(status).values()) == {"new"}
    assert (status.is_current, status.kb_version, status.difference) == (False, "", None)


def test_every_file_is_told_with_what_became_of_it(settings: Settings) -> None:
    report = update_index(settings, SOURCE)
    status = index_status(settings, SOURCE)
    assert report is not None
    assert status.is_current
    shown = {
        file.file: (file.state, file.reason.key if file.reason else None, file.chunks, file.encoding)
        for file in status.files
    }
    assert shown == {
        "a.md": ("indexed", None, 2, "utf-8"),
        "b.txt": ("indexed", None, 1, "cp1251"),
        "bad.json": ("skipped", "skip_json", 0, None),
        "base.sqlite": ("indexed", None, 2, None),
        "d/c.png": ("skipped", "skip_unsupported", 0, None),
    }
    assert status.count("indexed") + status.count("skipped") == report.found == len(status.files)
    assert sum(file.chunks for file in status.files) == report.chunks


@pytest.mark.parametrize(
    ("change", "file", "state"),
    [
        (lambda base: (base / "a.md").write_text("другое", "utf-8"), "a.md", "changed"),
        (lambda base: (base / "a.md").write_text("", "utf-8"), "a.md", "changed"),
        (lambda base: (base / "bad.json").write_text("[{}]", "utf-8"), "bad.json", "changed"),
        (lambda base: (base / "a.md").unlink(), "a.md", "gone"),
        (lambda base: (base / "bad.json").unlink(), "bad.json", "gone"),
        (lambda base: (base / "new.pptx").write_bytes(b""), "new.pptx", "new"),
        (lambda base: (base / "new.md").write_bytes(b""), "new.md", "new"),
        (lambda base: (base / "sources.toml").unlink(), "base.sqlite", "changed"),
        (lambda base: (base / "a.md").rename(base / "z.md"), "z.md", "new"),
    ],
)
def test_what_has_changed_since_is_told(
    settings: Settings, change: Callable[[Path], object], file: str, state: str
) -> None:
    update_index(settings, SOURCE)
    before = states(index_status(settings, SOURCE))
    change(settings.knowledge_base)
    status = index_status(settings, SOURCE)
    after = states(status)
    assert after[file] == state
    assert not status.is_current
    differing = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert differing == ({"a.md", "z.md"} if file == "z.md" else {file})
    update_index(settings, SOURCE)
    assert index_status(settings, SOURCE).is_current


def test_another_embedder_or_chunk_size_is_told_by_name(settings: Settings) -> None:
    """Case 21."""
    update_index(settings, SOURCE)
    status = index_status(settings, source_of(WordEmbedder(name="other")))
    assert status.difference is not None
    assert "other" in status.difference.text("ru")
    assert "words" in status.difference.text("en")
    sizes = load_settings({"home": settings.home, "index.chunk_tokens": 99}, environ={}).settings
    status = index_status(sizes, SOURCE)
    assert status.difference is not None
    assert "chunk_tokens" in status.difference.text("ru")
    assert not status.is_current


def test_a_damaged_index_is_told(settings: Settings) -> None:
    update_index(settings, SOURCE)
    (settings.embeddings / "chunks.json").write_bytes(b"[")
    with pytest.raises(IndexDamagedError):
        index_status(settings, SOURCE)


def test_what_was_left_out_of_a_file_is_told(settings: Settings) -> None:
    update_index(settings, SOURCE)
    index = json_store.load(settings.embeddings)
    documents = {
        key: replace(document, metadata={**document.metadata, "pages_without_text": 3})
        for key, document in index.documents.items()
    }
    held = holdings(replace(index, documents=documents))
    assert [note.key for note in held["a.md"].notes] == ["note_pages_without_text"]
    assert held["bad.json"] == FileStatus("bad.json", "skipped", held["bad.json"].reason)


def test_the_report_of_status_is_made_once_an_index(settings: Settings) -> None:
    update_index(settings, SOURCE)
    index = json_store.load(settings.embeddings)
    report = IndexReport()
    first = report.of(IndexSnapshot(index))
    assert report.of(IndexSnapshot(index)) is first
    assert (first["found"], first["files"], first["chunks"]) == (5, 3, 5)
    by_file = first["by_file"]
    assert isinstance(by_file, list)
    assert [entry["file"] for entry in by_file] == ["a.md", "b.txt", "bad.json", "base.sqlite", "d/c.png"]
    assert by_file[1] == {
        "file": "b.txt", "state": "indexed", "chunks": 1, "encoding": "cp1251", "reason": None,
    }  # fmt: skip
    assert by_file[4]["reason"] == "unsupported: .png"
    assert report.of(IndexSnapshot(replace(index))) is not first
