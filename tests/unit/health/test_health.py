"""What ``otvet doctor`` says of an index: every fault is found and named with what helps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from indexing_process import source_of
from word_embedder import WordEmbedder

from pipeline.health import reach
from pipeline.health.blocks import check_blocks
from pipeline.health.doubles import check_doubles, near_pairs
from pipeline.health.files import check_files
from pipeline.health.finding import Finding, Say
from pipeline.health.reach import check_reach, unreached
from pipeline.health.stored import check_stored
from pipeline.index import Index
from pipeline.indexing import index_status, update_index
from pipeline.settings import SearchSettings, Settings, load_settings
from pipeline.stores import json_store

SAY = Say("en")
SOURCE = source_of(WordEmbedder())
RULE = "Отпуск работника склада длится двадцать восемь календарных дней подряд."


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = load_settings({"home": tmp_path}, environ={}).settings
    base = made.knowledge_base
    base.mkdir()
    (base / "a.md").write_text(f"# Отпуск\n\n{RULE}\n\n# Принтер\n\nПринтер стоит в коридоре.\n", "utf-8")
    (base / "b.md").write_text(f"# Отдых\n\n{RULE} \n", "utf-8")
    (base / "c.md").write_bytes((base / "b.md").read_bytes())
    (base / "d.md").write_text("# Склад\n\nСклад открыт с девяти часов утра.\n", "utf-8")
    (base / "e.png").write_bytes(b"1")
    update_index(made, SOURCE)
    return made


def loaded(settings: Settings) -> Index:
    return json_store.load(settings.embeddings)


def stored(settings: Settings, index: Index, embedder: WordEmbedder | None = None) -> Finding:
    (finding,) = check_stored(settings.embeddings, index, embedder or WordEmbedder(), SAY)
    return finding


def test_a_sound_index_agrees_with_itself(settings: Settings) -> None:
    finding = stored(settings, loaded(settings))
    assert (finding.state, finding.items, finding.next_step) == ("ok", (), "")


@pytest.mark.parametrize("name", ["chunks.json", "documents.json", "embeddings.json"])
def test_a_changed_json_file_is_named(settings: Settings, name: str) -> None:
    index = loaded(settings)
    path = settings.embeddings / name
    path.write_bytes(path.read_bytes().replace(b"0", b"1", 1) + b" ")
    finding = stored(settings, index)
    assert finding.state == "problem"
    assert any(name in item for item in finding.items)
    assert finding.next_step == "otvet index --rebuild"


def test_copies_that_differ_from_the_json_are_found(settings: Settings) -> None:
    """Cases 20: never texts shifted against vectors."""
    index = loaded(settings)
    swapped = replace(index, vectors=np.ascontiguousarray(index.vectors[::-1]))
    assert "embeddings.json" in " ".join(stored(settings, swapped).items)
    shifted = replace(index, chunks=tuple(reversed(index.chunks)))
    assert "chunks.json" in " ".join(stored(settings, shifted).items)
    fewer = replace(index, chunks=tuple(index.chunks)[1:])
    assert stored(settings, fewer).state == "problem"


def test_damaged_copies_are_found(settings: Settings) -> None:
    index = loaded(settings)
    (path,) = settings.embeddings.glob("cache/*/token_values.npy")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert "binary copies" in " ".join(stored(settings, index).items)


def test_another_model_under_the_same_name_is_found(settings: Settings) -> None:
    """Case 21."""

    class Other(WordEmbedder):
        def _vector(self, word: str) -> np.ndarray:
            return super()._vector(f"{word}!")

    assert "the model gives other vectors" in " ".join(stored(settings, loaded(settings), Other()).items)


def test_files_are_counted_and_each_unread_one_has_its_reason(settings: Settings) -> None:
    base = settings.knowledge_base
    found, unread = check_files(index_status(settings, SOURCE), SAY)
    assert (found.state, found.detail) == ("ok", "5 found: 4 indexed, 1 skipped")
    assert unread.items == ("e.png: the format is not supported (.png)",)
    (base / "new.md").write_text("Новый.", "utf-8")
    (base / "a.md").write_text("Иной.", "utf-8")
    (base / "b.md").unlink()
    found, _ = check_files(index_status(settings, SOURCE), SAY)
    assert (found.state, found.next_step) == ("warning", "otvet index")
    assert [item.partition(":")[0] for item in found.items] == ["a.md", "b.md", "new.md"]


def test_another_chunker_is_named(settings: Settings) -> None:
    changed = settings.index.model_copy(update={"chunking": "headings"})
    status = index_status(settings.model_copy(update={"index": changed}), SOURCE)
    difference = check_files(status, SAY)[1]
    assert "sentences" in difference.detail
    assert "headings" in difference.detail
    assert difference.next_step == "otvet index"


def test_equal_files_and_near_duplicates(settings: Settings) -> None:
    files, passages = check_doubles(loaded(settings), SAY)
    assert files.items == ("b.md = c.md",)
    assert files.state == passages.state == "warning"
    # The passages of equal files are told there and not once more.
    assert set(passages.items) == {"a.md (Отпуск) ≈ b.md (Отдых)", "a.md (Отпуск) ≈ c.md (Отдых)"}
    assert passages.next_step == "otvet map"


def test_texts_that_differ_in_a_number_are_no_doubles(settings: Settings) -> None:
    for number in (1, 2):
        text = f"# Приказ\n\n{RULE} {RULE} Номер {number}.\n"
        (settings.knowledge_base / f"n{number}.md").write_text(text, "utf-8")
    update_index(settings, SOURCE)
    pairs = {(one.file, other.file) for one, other in near_pairs(loaded(settings))}
    assert ("n1.md", "n2.md") not in pairs


def test_large_topics_the_largest_first(settings: Settings) -> None:
    (finding,) = check_blocks(loaded(settings), WordEmbedder(), 5, SAY)
    tokens = [int(item.rpartition("(")[2][:-1]) for item in finding.items]
    assert tokens == sorted(tokens, reverse=True)
    assert min(tokens) > 5
    assert finding.next_step == "otvet tokens"
    (finding,) = check_blocks(loaded(settings), WordEmbedder(), 900, SAY)
    assert (finding.state, finding.items) == ("ok", ())


def test_every_passage_of_a_small_base_is_found(settings: Settings) -> None:
    told: list[tuple[int, int]] = []
    index = loaded(settings)
    (finding,) = check_reach(
        index, WordEmbedder(), SearchSettings(), SAY, lambda done, total: told.append((done, total))
    )
    assert (finding.state, finding.items) == ("ok", ())
    assert told[-1] == (len(index.chunks), len(index.chunks))


def test_a_passage_nobody_finds_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    real = reach.retrieve

    def without_the_warehouse(*arguments: object) -> object:
        found = real(*arguments)  # type: ignore[arg-type]
        return replace(found, hits=tuple(hit for hit in found.hits if hit.chunk.file != "d.md"))

    monkeypatch.setattr(reach, "retrieve", without_the_warehouse)
    (finding,) = check_reach(loaded(settings), WordEmbedder(), SearchSettings(), SAY)
    assert finding.state == "warning"
    assert finding.items == ("d.md: Склад",)
    assert "otvet search" in finding.next_step


def test_the_search_for_passages_is_bounded(settings: Settings) -> None:
    def ticks() -> Iterator[float]:
        yield from (0.0, 1.0, 2.0, 9.0)

    clock = ticks()
    found = unreached(
        loaded(settings), WordEmbedder(), SearchSettings(), seconds=5.0, clock=lambda: next(clock)
    )
    assert found.looked == 2
    assert unreached(loaded(settings), WordEmbedder(), SearchSettings(), sample=1).looked == 1


def test_an_empty_index_is_sound(tmp_path: Path) -> None:
    settings = load_settings({"home": tmp_path}, environ={}).settings
    settings.knowledge_base.mkdir()
    update_index(settings, SOURCE)
    index = loaded(settings)
    assert stored(settings, index).state == "ok"
    assert all(finding.state == "ok" for finding in check_doubles(index, SAY))
    (finding,) = check_reach(index, WordEmbedder(), SearchSettings(), SAY)
    assert finding.state == "ok"


def test_the_command_shows_items_and_json_holds_them_all(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from pipeline import bootstrap, diagnosis
    from pipeline.cli.doctor import doctor

    for number in range(12):
        (settings.knowledge_base / f"{number}.gif").write_bytes(b"1")
    update_index(settings, SOURCE)
    monkeypatch.chdir(settings.home)
    monkeypatch.setenv("OTVET_HOME", str(settings.home))
    monkeypatch.setenv("OTVET_LANGUAGE", "en")
    monkeypatch.setattr(bootstrap, "create_embedder", lambda settings: WordEmbedder())
    monkeypatch.setattr(bootstrap, "embedder_source", lambda settings: SOURCE)
    for name in ("_machine", "_packages", "_models", "_tuning", "_space"):
        monkeypatch.setattr(diagnosis, name, lambda settings, say: [], raising=False)
    shown = CliRunner().invoke(doctor, [], catch_exceptions=False)
    assert shown.exit_code == 0
    assert "… (+3)" in shown.stdout
    told = json.loads(CliRunner().invoke(doctor, ["--json"], catch_exceptions=False).stdout)
    by_name = {finding["check"]: finding for finding in told}
    assert len(by_name["Files not read"]["items"]) == 13
    assert "Passages nobody can find" in by_name
    quick = json.loads(CliRunner().invoke(doctor, ["--json", "--quick"], catch_exceptions=False).stdout)
    assert "Passages nobody can find" not in {finding["check"] for finding in quick}
