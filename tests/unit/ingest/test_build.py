"""From a folder to an index."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from word_embedder import WordEmbedder

from pipeline.ingest.build import build_index
from pipeline.ingest.survey import is_current
from pipeline.ingest.tokens import token_report
from pipeline.settings import IndexSettings
from pipeline.stores.json_store import load, save

SMALL = IndexSettings(chunk_tokens=16, overlap_tokens=4)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "knowledge_base"
    folder.mkdir()
    (folder / "a.md").write_text("# Отпуск\n\nОтпуск — 28 дней.\n\n## Ссылки\n\nСм. http://a.b/c\n", "utf-8")
    (folder / "b.txt").write_text("[Тема] Склад\nСклад открыт.\n[Тема] Склад\nСклад закрыт.\n", "utf-8")
    (folder / "c.json").write_text('[{"text": "Без темы.", "tags": ["x"]}]', "utf-8")
    return folder


def test_one_bad_file_never_stops_the_run(tmp_path: Path) -> None:
    """Case 4."""
    text = "Отпуск работника — двадцать восемь дней. Ёлка стоит в холле до старого нового года."
    for name, encoding in {"a": "utf-8", "b": "cp1251", "c": "cp866", "d": "utf-16"}.items():
        data = text.replace("—", "-").encode(encoding)
        (tmp_path / f"{name}.txt").write_bytes(data)
    (tmp_path / "e.txt").write_bytes(random.Random(7).randbytes(2048))
    (tmp_path / "f.png").write_bytes(b"\x89PNG")
    built = build_index(tmp_path, WordEmbedder(), IndexSettings())
    report = built.report
    assert {file: phrase.key for file, phrase in report.skipped.items()} == {
        "e.txt": "skip_not_text",
        "f.png": "skip_unsupported",
    }
    assert report.found == report.indexed + len(report.skipped) == 6
    assert report.encodings == {"b.txt": "cp1251", "c.txt": "cp866", "d.txt": "utf-16-le"}
    assert len({chunk.text for chunk in built.index.chunks}) == 1
    assert "Ёлка" in built.index.chunks[0].text
    assert built.index.manifest.skipped == {"e.txt": "not_text", "f.png": "unsupported: .png"}


def test_passages_are_given_whole_and_without_prefix(base: Path) -> None:
    """Case 16: the embedder, and nobody else, adds a prefix."""
    embedder = WordEmbedder()
    built = build_index(base, embedder, IndexSettings())
    assert {role for role, _ in embedder.seen} == {"passage"}
    assert sorted(text for _, text in embedder.seen) == sorted(
        [
            "Отпуск\nОтпуск — 28 дней.", "Отпуск — 28 дней.",
            "Отпуск / Ссылки\nСм. [link]", "См. [link]",
            "Склад\nСклад открыт.", "Склад открыт.",
            "Склад\nСклад закрыт.", "Склад закрыт.",
            "Без темы.",
        ]
    )  # fmt: skip
    assert not any("passage:" in chunk.text + chunk.topic for chunk in built.index.chunks)


def test_rows_belong_together(base: Path) -> None:
    embedder = WordEmbedder()
    index = build_index(base, embedder, IndexSettings()).index
    for row, chunk in enumerate(index.chunks):
        topic = f"{chunk.topic}\n" if chunk.topic else ""
        text = chunk.text.replace("http://a.b/c", "[link]")
        both, alone = embedder.encode([topic + text, text], "passage").vectors
        assert np.array_equal(index.vectors[row], both)
        assert np.array_equal(index.text_vectors[row], alone)
        tokens = index.tokens[row]
        assert len(tokens) == len(embedder.token_spans(topic + text))
        assert np.allclose(np.linalg.norm(tokens.vectors, axis=1), 1, atol=1e-6)
        words = [chunk.text[start:end] for start, end in tokens.spans if start >= 0]
        link = ["http://a.b/c"] * 3 if "http" in chunk.text else []
        without = [word for word in words if word != "http://a.b/c"]
        plain = chunk.text.replace("http://a.b/c", "")
        assert without == [plain[start:end] for start, end in embedder.token_spans(plain)]
        assert len(words) - len(without) == len(link)
        assert index.documents[chunk.document_id].text[chunk.start : chunk.end] == chunk.text


def test_equal_input_gives_equal_bytes(base: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        save(build_index(base, WordEmbedder(), SMALL).index, tmp_path / name)
    for name in ("chunks.json", "documents.json", "embeddings.json", "manifest.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_an_empty_knowledge_base_gives_an_empty_index(tmp_path: Path) -> None:
    """Case 7."""
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "a.txt").write_bytes(b"\n\n \t\n")
    built = build_index(tmp_path / "kb", WordEmbedder(), IndexSettings())
    report = built.report
    save(built.index, tmp_path / "index")
    assert (report.chunks, report.found, list(report.skipped)) == (0, 1, ["a.txt"])
    index = load(tmp_path / "index", WordEmbedder().spec)
    assert (len(index.chunks), index.vectors.shape, len(index.tokens)) == (0, (0, 16), 0)


def test_progress_goes_up_to_all(base: Path) -> None:
    calls: list[tuple[int, int]] = []
    build_index(base, WordEmbedder(), SMALL, lambda done, total: calls.append((done, total)))
    assert calls[-1][0] == calls[-1][1] > 0
    assert calls == sorted(set(calls))
    assert len(calls) > len(list(base.iterdir()))


def test_an_index_is_current_until_something_changes(base: Path) -> None:
    """Case 21."""
    embedder = WordEmbedder()
    (base / "bad.json").write_text("[", "utf-8")
    (base / "picture.png").write_bytes(b"1")
    manifest = build_index(base, embedder, SMALL).index.manifest
    assert is_current(manifest, base, embedder.spec, SMALL)
    assert not is_current(manifest, base, WordEmbedder(name="other").spec, SMALL)
    assert not is_current(manifest, base, embedder.spec, IndexSettings())
    (base / "picture.png").write_bytes(b"2")
    assert is_current(manifest, base, embedder.spec, SMALL)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.md", "другое"), ("bad.json", '[{"text": "исправлен"}]'), ("new.txt", "новый"), ("b.txt", None)],
)
def test_a_changed_mended_new_or_removed_file_makes_an_index_old(
    base: Path, name: str, content: str | None
) -> None:
    embedder = WordEmbedder()
    (base / "bad.json").write_text("[", "utf-8")
    manifest = build_index(base, embedder, SMALL).index.manifest
    if content is None:
        (base / name).unlink()
    else:
        (base / name).write_text(content, "utf-8")
    assert not is_current(manifest, base, embedder.spec, SMALL)


def test_token_report_flags_large_blocks(base: Path) -> None:
    (base / "d.txt").write_text("слово " * 901, "utf-8")
    (base / "e.txt").write_text("слово " * 900, "utf-8")
    (base / "f.txt").write_text("", "utf-8")
    sizes = token_report(base, WordEmbedder(), 900)
    rows = {(block.file, block.topic): (block.tokens, block.large) for block in sizes}
    assert rows["d.txt", "d"] == (901, True)
    assert rows["e.txt", "e"] == (900, False)
    assert rows["c.json", "c"] == (3, False)
    assert [block.file for block in sizes] == sorted(block.file for block in sizes)
