"""Binary copies: used while they belong to the JSON, made again when not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from word_embedder import WordEmbedder

from pipeline.errors import IndexDamagedError
from pipeline.index import Index
from pipeline.ingest.build import build_index
from pipeline.settings import IndexSettings
from pipeline.stores import json_store
from pipeline.stores.json_store import load, save


@pytest.fixture
def index(tmp_path: Path) -> Index:
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "a.txt").write_text("Отпуск — 28 дней.", "utf-8")
    return build_index(tmp_path / "kb", WordEmbedder(), IndexSettings()).index


@pytest.fixture
def folder(tmp_path: Path, index: Index) -> Path:
    save(index, tmp_path / "embeddings")
    return tmp_path / "embeddings"


def the_cache(folder: Path) -> Path:
    (cache,) = (folder / "cache").iterdir()
    return cache


def test_vectors_are_not_parsed_while_copies_are_current(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(json_store, "_vectors", never)
    monkeypatch.setattr("pipeline.stores.cache._sha256", never)
    load(folder)


def test_a_copied_folder_needs_no_rebuild(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    os.utime(tmp_path / "copy" / "embeddings.json", ns=(1, 1))
    index = load(tmp_path / "copy")
    assert len(index.tokens) == 1
    load(tmp_path / "copy")


def test_changed_vectors_of_the_same_size_are_noticed(folder: Path) -> None:
    """Case 20."""
    path = folder / "embeddings.json"
    data = path.read_bytes().replace(b"0.1", b"0.2")
    path.write_bytes(data)
    os.utime(path, ns=(1, 1))
    with pytest.raises(IndexDamagedError, match=r"embeddings\.json"):
        load(folder)


@pytest.mark.parametrize(
    "name", ["vectors.npy", "token_values.npy", "terms.json", "record.json", "term_rows.npy"]
)
@pytest.mark.parametrize("damage", ["cut", "missing", "noise"])
def test_damaged_copies_are_made_again(folder: Path, index: Index, name: str, damage: str) -> None:
    path = the_cache(folder) / name
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(data[:-1] if damage == "cut" else b"\x93" * len(data))
    found = load(folder, None, WordEmbedder())
    assert np.array_equal(found.vectors, index.vectors)
    assert np.array_equal(found.tokens[0].vectors, index.tokens[0].vectors)
    assert dict(found.postings.terms) == dict(index.postings.terms)
    load(folder)


def test_copies_of_a_wrong_shape_are_made_again(folder: Path, index: Index) -> None:
    path = the_cache(folder) / "vectors.npy"
    size = path.stat().st_size
    np.save(path, np.zeros((16, 1), dtype=np.float32))
    assert path.stat().st_size == size
    assert np.array_equal(load(folder, None, WordEmbedder()).vectors, index.vectors)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
def test_a_place_that_cannot_be_written_to_is_no_error(
    folder: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(folder / "cache")

    def refuse(*_: object) -> None:
        raise OSError(30, "read-only file system")

    monkeypatch.setattr(json_store, "write_cache", refuse)
    found = load(folder, None, WordEmbedder())
    assert np.array_equal(found.vectors, index.vectors)


def test_a_full_disk_stops_a_save_and_keeps_the_old_index(
    folder: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="no space"):
        save(index, folder)
    assert load(folder).chunks == index.chunks
    assert not [path for path in (folder / "cache").iterdir() if path.name.endswith(".new")]


def test_mapped_arrays_cannot_be_changed(folder: Path) -> None:
    index = load(folder)
    with pytest.raises(ValueError, match="read-only"):
        index.vectors[0, 0] = 1.0
