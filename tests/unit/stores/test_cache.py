"""Binary copies: used while they belong to the JSON, made again when not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from word_embedder import WordEmbedder

from pipeline.errors import IndexDamagedError
from pipeline.index import Index, find_row
from pipeline.ingest.build import build_index
from pipeline.settings import IndexSettings
from pipeline.stores import json_store, loading
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

    for name in ("with_checksum", "check_checksum", "vectors_in", "chunks_in", "documents_in"):
        monkeypatch.setattr(loading, name, never)
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
    "name",
    [
        "vectors.npy",
        "token_values.npy",
        "terms.json",
        "record.json",
        "term_rows.npy",
        "token_offsets.npy",
        "chunks.bin",
        "chunks_starts.npy",
        "chunks_sums.npy",
        "documents.bin",
        "document_ids.json",
        "id_ranks.npy",
        "twins.npy",
        "lengths.npy",
    ],
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
    assert found.chunks == index.chunks
    assert dict(found.documents) == dict(index.documents)
    load(folder)


@pytest.mark.parametrize("name", ["vectors.npy", "terms.json", "chunks_sums.npy", "documents.bin"])
def test_tokens_outlive_damage_to_the_other_copies(folder: Path, index: Index, name: str) -> None:
    (the_cache(folder) / name).write_bytes(b"")
    before = [path.stat() for path in sorted(the_cache(folder).glob("token_*"))]
    found = load(folder)  # without an embedder: nothing is encoded again
    after = [path.stat() for path in sorted(the_cache(folder).glob("token_*"))]
    assert [one.st_ino for one in before] == [one.st_ino for one in after]
    assert len(list((folder / "cache").iterdir())) == 1
    assert np.array_equal(found.tokens[0].vectors, index.tokens[0].vectors)
    assert found.chunks == index.chunks
    assert json_store.check_copies(folder)


def test_copies_of_the_first_version_give_their_tokens(folder: Path, index: Index) -> None:
    cache = the_cache(folder)
    record = orjson.loads((cache / "record.json").read_bytes())
    names = [path.name for path in cache.glob("token_*.npy")]
    old = {
        "version": 1,
        "checksum": record["checksums"]["embeddings.json"],
        "state": record["states"]["embeddings.json"],
        "files": {name: record["files"][name][0] for name in names},
    }
    for path in cache.iterdir():
        if path.name not in names:
            path.unlink()
    (cache / "record.json").write_bytes(orjson.dumps(old))
    assert np.array_equal(load(folder).tokens[0].vectors, index.tokens[0].vectors)
    assert json_store.check_copies(folder)


@pytest.mark.parametrize("name", ["vectors.npy", "token_values.npy", "token_scales.npy", "chunks.bin"])
def test_a_single_changed_byte_is_found_by_the_full_check(folder: Path, index: Index, name: str) -> None:
    path = the_cache(folder) / name
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert not json_store.check_copies(folder)
    found = load(folder, None, WordEmbedder() if name.startswith("token") else None)
    assert np.array_equal(found.vectors, index.vectors)
    assert np.array_equal(found.tokens[0].vectors, index.tokens[0].vectors)
    assert json_store.check_copies(folder)


def test_a_text_damaged_while_it_is_in_use_is_read_from_the_json(folder: Path, index: Index) -> None:
    for name in ("chunks.bin", "documents.bin"):
        path = the_cache(folder) / name
        path.write_bytes(b"\x00" * path.stat().st_size)
    found = load(folder)
    assert found.chunks[0] == index.chunks[0]
    assert found.chunks[-1:] == tuple(index.chunks[-1:])
    assert dict(found.documents) == dict(index.documents)


def test_stored_chunks_are_a_sequence(folder: Path, index: Index) -> None:
    loaded = load(folder)
    chunks = loaded.chunks
    assert chunks == index.chunks
    assert index.chunks == chunks
    assert chunks != index.chunks[1:]
    assert chunks != 5
    assert chunks[-1] == index.chunks[-1]
    with pytest.raises(IndexError):
        chunks[len(chunks)]
    assert find_row(loaded, index.chunks[0].id) == 0
    assert find_row(loaded, "нет") is None


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

    monkeypatch.setattr(loading, "write_cache", refuse)
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


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_whatever_happens_to_a_copy_it_is_noticed_and_made_again(
    folder: Path, index: Index, data: st.DataObject
) -> None:
    """Cut, changed or emptied at any place: a load gives the index or a full check finds the damage."""
    names = sorted(path.name for path in the_cache(folder).iterdir())
    path = the_cache(folder) / data.draw(st.sampled_from(names))
    whole = path.read_bytes()
    if data.draw(st.booleans()):
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    else:
        place = data.draw(st.integers(0, len(whole) - 1))
        changed = bytearray(whole)
        changed[place] ^= data.draw(st.integers(1, 255))
        path.write_bytes(changed)
    json_store.check_copies(folder)
    found = load(folder, None, WordEmbedder())
    assert found.chunks == index.chunks
    assert dict(found.documents) == dict(index.documents)
    assert np.array_equal(found.vectors, index.vectors)
    assert np.array_equal(found.text_vectors, index.text_vectors)
    assert np.array_equal(found.tokens[0].vectors, index.tokens[0].vectors)
    assert np.array_equal(found.tokens[0].spans, index.tokens[0].spans)
    assert np.array_equal(found.postings.rows, index.postings.rows)
    assert json_store.check_copies(folder)
