"""What a stored index owes: it comes back equal, or says why it cannot be used."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest
from word_embedder import WordEmbedder

from pipeline.errors import IndexDamagedError, IndexMismatchError, IndexMissingError, IndexUnusableError
from pipeline.index import Index
from pipeline.ingest.build import build_index
from pipeline.settings import IndexSettings
from pipeline.stores.json_store import load, read_manifest, save

FILES = ("chunks.json", "documents.json", "embeddings.json", "manifest.json")


@pytest.fixture
def index(tmp_path: Path) -> Index:
    base = tmp_path / "kb"
    base.mkdir()
    (base / "a.md").write_text(
        "---\nowner: Анна\nyear: 2024\n---\n# Отпуск\n\nСм. http://a.b/c или 28 дней.\n\n## Ещё\n\nТекст.\n",
        "utf-8",
    )
    (base / "b.txt").write_text(
        "[Тема] Склад\n[Ссылка] https://example.org/\n[Теги] x\nОткрыт. 👨\u200d👩\u200d👧\n", "utf-8"
    )
    (base / "c.png").write_bytes(b"")
    return build_index(base, WordEmbedder(), IndexSettings()).index


@pytest.fixture
def folder(tmp_path: Path, index: Index) -> Path:
    save(index, tmp_path / "embeddings")
    return tmp_path / "embeddings"


def assert_equal(found: Index, index: Index) -> None:
    assert found.manifest == index.manifest
    assert found.chunks == index.chunks
    assert dict(found.documents) == dict(index.documents)
    assert np.array_equal(found.vectors, index.vectors)
    assert np.array_equal(found.text_vectors, index.text_vectors)
    assert found.vectors.dtype == found.text_vectors.dtype == np.float32
    assert len(found.tokens) == len(index.tokens) == len(index.chunks)
    for row in range(len(index.tokens)):
        assert np.array_equal(found.tokens[row].vectors, index.tokens[row].vectors)
        assert np.array_equal(found.tokens[row].spans, index.tokens[row].spans)
    assert dict(found.postings.terms) == dict(index.postings.terms)
    for name in ("starts", "rows", "counts", "lengths"):
        assert np.array_equal(getattr(found.postings, name), getattr(index.postings, name))


def test_an_index_comes_back_equal(folder: Path, index: Index) -> None:
    assert_equal(load(folder, WordEmbedder().spec), index)
    assert read_manifest(folder) == index.manifest


def test_it_comes_back_equal_without_its_binary_copies(folder: Path, index: Index) -> None:
    for path in sorted((folder / "cache").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    with pytest.raises(IndexDamagedError, match="token vectors"):
        load(folder, WordEmbedder().spec)
    embedder = WordEmbedder()
    assert_equal(load(folder, embedder.spec, embedder), index)
    embedder.seen.clear()
    assert_equal(load(folder, embedder.spec, embedder), index)
    assert embedder.seen == []


def test_other_programs_can_read_it(folder: Path, index: Index) -> None:
    chunks = json.loads((folder / "chunks.json").read_text("utf-8"))
    vectors = json.loads((folder / "embeddings.json").read_text("utf-8"))
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert {"id", "topic", "link", "file", "text", "start", "end", "headings", "tags"} <= set(chunks[0])
    assert list(vectors) == [chunk["id"] for chunk in chunks]
    assert set(vectors[chunks[0]["id"]]) == {"topic_text", "text"}
    assert np.array_equal(np.float32(vectors[chunks[1]["id"]]["text"]), index.text_vectors[1])
    assert (manifest["embedder_id"], manifest["dimension"], manifest["prefix_scheme"]) == ("words", 16, "e5")
    assert manifest["chunker"]["chunk_tokens"] == 220
    assert set(manifest["files"]) == {"a.md", "b.txt"}
    assert manifest["skipped"] == {"c.png": "unsupported: .png"}


def test_no_index_is_told_from_a_damaged_one(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "нет"):
        with pytest.raises(IndexMissingError):
            load(folder)
    (tmp_path / "chunks.json").write_text("[]")
    with pytest.raises(IndexDamagedError):
        load(tmp_path)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["half", "empty", "[]", '{"foo":1}', "null", "missing", "one byte"])
@pytest.mark.parametrize("cached", [True, False])
def test_a_broken_file_is_always_noticed(folder: Path, name: str, damage: str, cached: bool) -> None:
    """Case 20."""
    path = folder / name
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "half":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "one byte":
        place = data.index(b"1")
        path.write_bytes(data[:place] + b"2" + data[place + 1 :])
    else:
        path.write_bytes(b"" if damage == "empty" else damage.encode())
    if not cached:
        for copy in (folder / "cache").rglob("*.npy"):
            copy.unlink()
    if name == "manifest.json" and damage == "one byte":
        return  # which byte it is decides what is wrong; the next test changes each field
    with pytest.raises(IndexDamagedError) as caught:
        load(folder, WordEmbedder().spec, WordEmbedder())
    assert name in caught.value.message("ru")
    assert "otvet index" in caught.value.hint("ru")


@pytest.mark.parametrize(
    "field", ["build_id", "embedder_id", "dimension", "chunker", "files", "checksums", "chunks"]
)
@pytest.mark.parametrize("value", [None, [], 5.5, "", {"chunks.json": 1}])
def test_a_manifest_with_a_wrong_field_is_noticed(folder: Path, field: str, value: object) -> None:
    """Case 20."""
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    if field in ("build_id", "embedder_id") and value == "":
        pytest.skip("a text, only not this one")
    if field == "chunker" and value == {"chunks.json": 1}:
        pytest.skip("settings of another chunker")
    manifest[field] = value
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest))
    with pytest.raises(IndexUnusableError):
        load(folder)


@pytest.mark.parametrize("missing", [0, -1])
def test_rows_that_do_not_fit_each_other_are_noticed(folder: Path, missing: int) -> None:
    """Case 20: as many texts as vectors, and the same ones, even if every checksum is right."""
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    vectors = orjson.loads((folder / "embeddings.json").read_bytes())
    del vectors[list(vectors)[missing]]
    _write_consistently(folder, manifest, "embeddings.json", vectors)
    with pytest.raises(IndexDamagedError):
        load(folder, None, WordEmbedder())


@pytest.mark.parametrize(
    "change",
    [
        lambda vectors: vectors | {next(iter(vectors)): {"topic_text": [1.0], "text": [1.0]}},
        lambda vectors: vectors | {next(iter(vectors)): {"topic_text": [1.0] * 16}},
        lambda vectors: (
            vectors | {next(iter(vectors)): {"topic_text": ["1"] * 15 + ["x"], "text": [1.0] * 16}}
        ),
        lambda vectors: vectors | {next(iter(vectors)): {"topic_text": [None] * 16, "text": [1.0] * 16}},
        lambda vectors: dict(reversed(vectors.items())),
        lambda vectors: list(vectors.values()),
    ],
)
def test_vectors_of_a_wrong_shape_are_noticed(folder: Path, change: object) -> None:
    """Case 20."""
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    vectors = orjson.loads((folder / "embeddings.json").read_bytes())
    assert callable(change)
    _write_consistently(folder, manifest, "embeddings.json", change(vectors))
    with pytest.raises(IndexDamagedError):
        load(folder, None, WordEmbedder())


@pytest.mark.parametrize("field", ["id", "text", "start", "document_id", "tags"])
def test_chunks_that_are_no_chunks_are_noticed(folder: Path, field: str) -> None:
    """Case 20."""
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    chunks = orjson.loads((folder / "chunks.json").read_bytes())
    chunks[1][field] = None
    _write_consistently(folder, manifest, "chunks.json", chunks)
    with pytest.raises(IndexDamagedError):
        load(folder)
    chunks[1] = "строка"
    _write_consistently(folder, manifest, "chunks.json", chunks)
    with pytest.raises(IndexDamagedError):
        load(folder)


def test_a_chunk_that_is_not_in_its_document_is_noticed(folder: Path) -> None:
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    chunks = orjson.loads((folder / "chunks.json").read_bytes())
    chunks[0]["text"] = chunks[0]["text"].replace("28", "82")
    _write_consistently(folder, manifest, "chunks.json", chunks)
    with pytest.raises(IndexDamagedError):
        load(folder)


def _write_consistently(folder: Path, manifest: dict[str, dict[str, str]], name: str, value: object) -> None:
    import hashlib

    data = orjson.dumps(value)
    (folder / name).write_bytes(data)
    manifest["checksums"][name] = hashlib.sha256(data).hexdigest()
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"id": "other"}, "модель"),
        ({"dimension": 768}, "размерность"),
        ({"prefix_scheme": "none"}, "префикс"),
    ],
)
def test_an_index_of_another_embedder_is_refused(folder: Path, change: dict[str, object], named: str) -> None:
    """Case 21: another dimension, and another model of the same dimension."""
    spec = replace(WordEmbedder().spec, **change)  # type: ignore[arg-type]
    with pytest.raises(IndexMismatchError) as caught:
        load(folder, spec)
    assert named in caught.value.message("ru")
    assert "otvet index" in caught.value.hint("ru")


def test_an_index_of_another_format_is_refused(folder: Path) -> None:
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest | {"format": 2}))
    with pytest.raises(IndexMismatchError, match="format"):
        load(folder)


def test_saving_over_another_index_leaves_only_the_new_one(folder: Path, index: Index) -> None:
    other = replace(index, manifest=replace(index.manifest, build_id="0123456789abcdef"))
    save(other, folder)
    assert_equal(load(folder), other)
    assert [path.name[:16] for path in (folder / "cache").iterdir()] == ["0123456789abcdef"]
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, "cache"])
