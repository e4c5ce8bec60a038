"""Only what has changed is read, cut and embedded, and the result is that of a build from nothing."""

from __future__ import annotations

import json
import os
import random
import sqlite3
from pathlib import Path

import pytest
from index_files import index_files
from indexing_process import source_of
from word_embedder import WordEmbedder

from pipeline.errors import IndexMismatchError
from pipeline.indexing import EmbedderSource, update_index
from pipeline.ingest import collect, earlier, fingerprints, manifest
from pipeline.ingest.build import BuildReport, build_index
from pipeline.ingest.chunkers import chunker
from pipeline.ingest.readers import registry
from pipeline.ports import Embedder
from pipeline.settings import Settings, load_settings
from pipeline.stores import json_store
from pipeline.types import Chunk, Document


class Home:
    """A home folder that is indexed again and again, each time compared with a build from nothing."""

    def __init__(self, folder: Path, **settings: object) -> None:
        values = {"home": folder / "home", "index.chunk_tokens": 16, "index.overlap_tokens": 4, **settings}
        self.folder = folder
        self.settings: Settings = load_settings(values, environ={}).settings
        self.base = self.settings.knowledge_base
        self.base.mkdir(parents=True, exist_ok=True)

    def write(self, file: str, text: str) -> None:
        path = self.base / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def index(self, embedder: WordEmbedder | None = None) -> tuple[BuildReport | None, list[str]]:
        """The report, and the texts that were embedded."""
        embedder = embedder or WordEmbedder()
        report = update_index(self.settings, source_of(embedder))
        fresh = WordEmbedder(name=embedder.spec.id, dimension=embedder.spec.dimension)
        expected = build_index(self.base, fresh, self.settings.index)
        json_store.save(expected.index, self.folder / "expected")
        assert index_files(self.settings.embeddings) == index_files(self.folder / "expected")
        if report is not None:
            assert report.embedded + report.reused == report.chunks == expected.report.chunks
            assert (report.found, report.indexed) == (expected.report.found, expected.report.indexed)
            assert report.skipped == expected.report.skipped
            assert report.encodings == expected.report.encodings
            assert report.tokens == expected.report.tokens
            assert report.shortened_topics == expected.report.shortened_topics
        return report, [text for _, text in embedder.seen]


@pytest.fixture(autouse=True)
def no_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    made.write("a.md", "# Отпуск\n\nОтпуск — 28 дней.\n\n## Ссылки\n\nСм. http://a.b/c\n")
    made.write("b.txt", "[Тема] Склад\nСклад открыт.\n[Тема] Касса\nКасса закрыта.\n")
    made.write("c.json", '[{"text": "Без темы.", "tags": ["x"]}]')
    made.write("d/e.txt", " ".join(f"Последний {number}." for number in range(20)))
    made.write("bad.json", "[")
    (made.base / "f.png").write_bytes(b"1")
    (made.base / "g.txt").write_bytes("Приказ о приёме на работу".encode("cp1251"))
    made.index()
    return made


def never_loaded(embedder: Embedder) -> EmbedderSource:
    def load() -> Embedder:
        raise AssertionError

    return EmbedderSource(embedder.spec.id, embedder.spec.prefix_scheme, load)


def test_nothing_changed_nothing_done(home: Home) -> None:
    assert update_index(home.settings, never_loaded(WordEmbedder())) is None


def test_only_the_changed_file_is_read_cut_and_embedded(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write("b.txt", "[Тема] Склад\nСклад открыт.\n[Тема] Касса\nКасса открыта.\n")
    cut: list[str] = []
    real = chunker.Chunker.chunk

    def counting(self: chunker.Chunker, document: Document) -> list[Chunk]:
        cut.append(document.file)
        return real(self, document)

    monkeypatch.setattr(chunker.Chunker, "chunk", counting)
    embedder = WordEmbedder()
    report = update_index(home.settings, source_of(embedder))
    assert report is not None
    assert cut == ["b.txt"]
    assert [text for _, text in embedder.seen] == ["Касса\nКасса открыта.", "Касса открыта."]
    assert (report.read, report.embedded, report.removed) == (1, 1, 1)
    monkeypatch.undo()
    assert home.index()[0] is None


@pytest.mark.parametrize("touch", ["a.md", "bad.json", "f.png"])
def test_a_new_time_is_no_change(home: Home, touch: str) -> None:
    path = home.base / touch
    path.write_bytes(path.read_bytes())
    assert home.index() == (None, [])


def test_a_deleted_file_needs_no_model(home: Home) -> None:
    (home.base / "b.txt").unlink()
    report = update_index(home.settings, never_loaded(WordEmbedder()))
    assert report is not None
    assert (report.read, report.embedded, report.removed, report.found) == (0, 0, 2, 6)
    home.index()


def test_a_skipped_file_is_tried_again_only_when_it_has_changed(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    real = registry.READERS[".json"]

    def counting(path: Path, file: str) -> object:
        tried.append(file)
        return real(path, file)

    monkeypatch.setattr(collect, "reader_for", lambda name: counting if name.endswith(".json") else None)
    assert update_index(home.settings, source_of(WordEmbedder())) is not None  # everything else is gone
    assert tried == []
    home.write("bad.json", '[{"text": "исправлен"}]')
    report = update_index(home.settings, source_of(WordEmbedder()))
    assert report is not None
    assert tried == ["bad.json"]
    assert "bad.json" not in report.skipped


def test_a_file_that_could_not_be_opened_is_tried_again(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    real = fingerprints.sha256_of

    def locked(path: Path) -> str:
        if path.name == "a.md":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(fingerprints, "sha256_of", locked)
    report, _ = home.index()
    assert report is not None
    assert report.skipped["a.md"].key == "skip_unopened"
    monkeypatch.undo()
    report, texts = home.index()
    assert report is not None
    assert "a.md" not in report.skipped
    assert "Отпуск\nОтпуск — 28 дней." in texts


def test_a_renamed_file_and_a_copy_are_not_embedded_again(home: Home) -> None:
    (home.base / "a.md").rename(home.base / "z.md")
    (home.base / "copy.json").write_bytes((home.base / "c.json").read_bytes())
    report, texts = home.index()
    assert report is not None
    assert texts == []
    assert (report.read, report.embedded, report.removed) == (2, 0, 2)


def test_equal_files_are_embedded_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for name in ("один", "два"):
        home.write(f"{name}.md", "# Отпуск\n\nОтпуск — 28 дней.\n")
    report, texts = home.index()
    assert report is not None
    assert texts == ["Отпуск\nОтпуск — 28 дней.", "Отпуск — 28 дней."]
    assert (report.chunks, report.embedded, report.reused) == (2, 1, 1)


def test_rebuild_takes_nothing_over(home: Home) -> None:
    embedder = WordEmbedder()
    report = update_index(home.settings, source_of(embedder), rebuild=True)
    assert report is not None
    assert (report.embedded, report.read) == (report.chunks, 5 + 1)
    assert embedder.seen
    home.index()


@pytest.mark.parametrize("damage", ["chunks.json", "cache", "manifest.json"])
def test_a_damaged_index_is_built_anew(home: Home, damage: str) -> None:
    """Case 20."""
    path = home.settings.embeddings / damage
    if damage == "cache":
        for copy in path.rglob("*.npy"):
            copy.write_bytes(b"")
    else:
        path.write_bytes(path.read_bytes()[:-20])
    report, texts = home.index()
    assert report is not None
    assert texts


def test_vectors_of_another_embedder_are_never_taken_over(home: Home) -> None:
    """Case 21: noticed by name, at the same dimension."""
    report, texts = home.index(WordEmbedder(name="other"))
    assert report is not None
    assert report.difference is not None
    assert report.difference.key == "index_differs_embedder"
    assert report.difference.values == {"found": "words", "expected": "other"}
    assert report.embedded == report.chunks
    assert report.read == 0
    assert len(texts) == len(set(texts)) > report.chunks


def test_another_chunk_size_cuts_again_and_keeps_equal_texts(home: Home) -> None:
    larger = Home(home.folder, **{"index.chunk_tokens": 40})
    report, texts = larger.index()
    assert report is not None
    assert report.difference is not None
    assert report.difference.key == "index_differs_chunker"
    assert report.difference.values == {"name": "chunk_tokens", "found": 16, "expected": 40}
    assert report.read == 0
    assert texts
    assert all("Последний" in text for text in texts)


@pytest.mark.parametrize("name", ["headings", "recursive", "semantic"])
def test_another_strategy_is_noticed_by_name_and_keeps_equal_texts(home: Home, name: str) -> None:
    other = Home(home.folder, **{"index.chunking": name})
    report, _ = other.index()
    assert report is not None
    assert report.difference is not None
    assert report.difference.values == {"name": "name", "found": "sentences", "expected": name}
    assert report.read == 0
    assert report.reused >= 5  # the short topics are cut alike by all
    assert other.index()[0] is None
    home.write("d/e.txt", " ".join(f"Новый {number}." for number in range(20)))
    assert other.index()[0] is not None


def test_another_strategy_for_one_format(home: Home) -> None:
    other = Home(home.folder, **{"index.chunking_by_format": {"txt": "headings"}})
    report, texts = other.index()
    assert report is not None
    assert report.difference is not None
    assert report.difference.values == {"name": "name.txt", "found": "—", "expected": "headings"}
    assert texts
    assert all("Последний" in text for text in texts)
    alike = Home(
        home.folder, **{"index.chunking": "sentences", "index.chunking_by_format": {"md": "sentences"}}
    )
    home.index()
    assert alike.index()[0] is None  # says the same in more words


@pytest.mark.parametrize("version", ["CHUNKER_VERSION", "READERS_VERSION", "TERMS_VERSION"])
def test_a_new_version_of_the_program_takes_over_only_what_it_makes_alike(
    home: Home, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (manifest, collect):
        monkeypatch.setattr(module, version, 99, raising=False)
    counted: list[int] = []
    real = earlier.renewed_postings
    monkeypatch.setattr(earlier, "renewed_postings", lambda *given: counted.append(1) or real(*given))
    report, texts = home.index()
    assert report is not None
    assert bool(texts) is (version == "CHUNKER_VERSION")
    assert (report.read > 0) is (version == "READERS_VERSION")
    assert bool(counted) is (version != "TERMS_VERSION")


def test_declared_tables_are_read_again_when_the_declaration_changes(home: Home) -> None:
    with sqlite3.connect(home.base / "base.sqlite") as base:
        base.execute("create table t (a text, b text)")
        base.execute("insert into t values ('Первый столбец о кошках', 'Второй столбец о собаках')")
    base.close()
    report, _ = home.index()
    assert report is not None
    assert report.skipped["base.sqlite"].key == "skip_not_declared"
    declared = '[[table]]\ndatabase = "base.sqlite"\ntable = "t"\ntext = "{}"\n'
    for column, word in (("a", "кошках"), ("b", "собаках")):
        home.write("sources.toml", declared.format(column))
        report, texts = home.index()
        assert report is not None
        assert any(word in text for text in texts)
        assert home.index() == (None, [])
    (home.base / "sources.toml").unlink()
    report, texts = home.index()
    assert report is not None
    assert report.skipped["base.sqlite"].key == "skip_not_declared"


def test_links_of_fetched_pages_follow_their_list(home: Home) -> None:
    home.write("fetched/page.html", "<h1>Правила</h1><p>Правила внутреннего распорядка.</p>")
    home.index()
    origin = {"page.html": {"url": "https://example.org/rules", "sha256": ""}}
    home.write("fetched/.origins.json", json.dumps(origin))
    report, texts = home.index()
    assert report is not None
    assert (report.read, texts) == (1, [])
    chunks = json_store.load(home.settings.embeddings).chunks
    assert [chunk.link for chunk in chunks if chunk.file.endswith(".html")] == ["https://example.org/rules"]


def test_a_file_that_changes_while_it_is_read_is_read_again_next_time(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = registry.READERS[".txt"]

    def racing(path: Path, file: str) -> object:
        documents = real(path, file)
        path.write_text("Записано сразу после чтения.", "utf-8")
        return documents

    home.write("h.txt", "Прочитано.")
    monkeypatch.setattr(collect, "reader_for", lambda name: racing if name == "h.txt" else real_for(name))
    real_for = registry.reader_for
    update_index(home.settings, source_of(WordEmbedder()))
    monkeypatch.undo()
    _, texts = home.index()
    assert "h\nЗаписано сразу после чтения." in texts


def test_any_run_of_changes_ends_as_a_build_from_nothing(tmp_path: Path) -> None:
    chance = random.Random(4)
    home = Home(tmp_path)
    words = ["склад", "касса", "отпуск", "приказ", "договор", "счёт-фактура", "УПД-5", "http://a.b/c"]
    for _ in range(25):
        for _ in range(chance.randrange(1, 4)):
            file = f"{chance.choice('абвг')}.{chance.choice(['txt', 'md', 'json'])}"
            if chance.random() < 0.25:
                (home.base / file).unlink(missing_ok=True)
                continue
            sentences = [" ".join(chance.choices(words, k=4)) + "." for _ in range(chance.randrange(6))]
            topic = chance.choice(words)
            home.write(file, f"# {topic}\n\n{' '.join(sentences)}\n")
        home.index()


def test_a_known_embedder_that_turns_out_to_be_another_is_refused(home: Home) -> None:
    home.write("b.txt", "Новое.")
    with pytest.raises(IndexMismatchError):
        update_index(home.settings, EmbedderSource("words", "e5", lambda: WordEmbedder(dimension=8)))
    home.index()
