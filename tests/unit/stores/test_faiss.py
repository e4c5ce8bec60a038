"""FAISS beside the JSON index."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from store_bases import Paper, base

from pipeline.errors import ExtraMissingError
from pipeline.retrieval.local_store import LocalStore
from pipeline.settings import StoreSettings
from pipeline.stores import faiss as adapter
from pipeline.stores import side_folder
from pipeline.stores.faiss import FaissVectors, open_faiss
from pipeline.types import FloatMatrix

COUNT, DIMENSION = 600, 32


@pytest.fixture(scope="module")
def vectors() -> FloatMatrix:
    made = np.random.default_rng(5).normal(size=(COUNT, DIMENSION)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def made_of(vectors: FloatMatrix, kind: str) -> FaissVectors:
    settings = StoreSettings.model_validate({"kind": kind})
    library = adapter._library()
    index = adapter._made(library, vectors, settings, None)
    return FaissVectors(kind, library, index, vectors, 0 if kind == "faiss-flat" else settings.hnsw_search)


@pytest.mark.parametrize("kind", ["faiss-flat", "faiss-hnsw"])
@pytest.mark.parametrize("share", [None, 0.0, 0.01, 0.09, 0.11, 0.5, 1.0])
def test_the_nearest_of_those_allowed_are_found(vectors: FloatMatrix, kind: str, share: float | None) -> None:
    """Where a filter leaves few rows and where it leaves many; never another row."""
    index = made_of(vectors, kind)
    allowed = None
    if share is not None:
        allowed = np.sort(np.random.default_rng(7).permutation(COUNT)[: int(share * COUNT)]).astype(np.intp)
    found, exact = 0, 0
    for question in vectors[:20]:
        rows = index.nearest(question, 10, None, allowed)
        scores = vectors @ question
        places = np.arange(COUNT) if allowed is None else allowed
        best = places[np.argsort(-scores[places])][:10]
        assert len(rows) == len(best)
        assert len(set(rows.tolist())) == len(rows)
        assert set(rows.tolist()) <= set(places.tolist())
        assert np.all(np.diff(scores[rows]) <= 1e-5)
        found += len(set(rows.tolist()) & set(best.tolist()))
        exact += len(best)
    assert found >= (exact if kind == "faiss-flat" else 0.98 * exact)


def test_the_same_vectors_give_the_same_file(vectors: FloatMatrix, tmp_path: Path) -> None:
    library = adapter._library()
    for name in "ab":
        library.write_index(made_of(vectors, "faiss-hnsw").index, str(tmp_path / name))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


PAPERS = (Paper("a.txt", ["Отпуск длится 28 дней.", "Склад закрыт."]), Paper("b.txt", ["Пароль у Анны."]))


def store_in(folder: Path, made: list[Path], **changes: object) -> LocalStore:
    settings = StoreSettings.model_validate({"kind": "faiss-hnsw", **changes})

    def open_counted(*given: object) -> FaissVectors:
        return open_faiss(settings, *given, lambda done, total: made.append(folder))  # type: ignore[arg-type]

    return LocalStore(folder, "faiss-hnsw", lambda index, place, total, _: open_counted(index, place, total))


def test_it_is_made_once_a_build_and_kept(tmp_path: Path) -> None:
    made: list[Path] = []
    store_in(tmp_path, made).write(base(PAPERS))
    assert len(made) == 1
    for _ in range(2):
        with store_in(tmp_path, made).snapshot() as snapshot:
            assert snapshot.vectors is not None
    assert len(made) == 1
    store_in(tmp_path, made).write(base(PAPERS[:1]))
    assert len(made) == 2
    folders = [path for path in (tmp_path / "beside" / "faiss-hnsw").iterdir() if path.is_dir()]
    assert [path.name[:8] for path in folders] == [base(PAPERS[:1]).manifest.build_id[:8]]


@pytest.mark.parametrize("damage", ["cut", "a byte", "gone", "record", "record gone", "other graph"])
def test_what_is_damaged_or_made_otherwise_is_made_again(tmp_path: Path, damage: str) -> None:
    made: list[Path] = []
    store_in(tmp_path, made).write(base(PAPERS))
    folder = next(path for path in (tmp_path / "beside" / "faiss-hnsw").iterdir() if path.is_dir())
    path, record = folder / "vectors.faiss", folder / "record.json"
    data = path.read_bytes()
    if damage == "cut":
        path.write_bytes(data[:-1])
    elif damage == "a byte":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif damage == "gone":
        path.unlink()
    elif damage == "record":
        record.write_bytes(b"{}")
    elif damage == "record gone":
        record.unlink()
    links = 8 if damage == "other graph" else StoreSettings().hnsw_links
    with store_in(tmp_path, made, hnsw_links=links).snapshot() as snapshot:
        assert snapshot.vectors is not None
        rows = snapshot.vectors.nearest(snapshot.index.vectors[0], 3, None, None)
        assert rows[0] == 0
    assert len(made) == 2
    assert path.read_bytes() == data or links == 8


def test_where_nothing_can_be_written_it_is_made_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    LocalStore(tmp_path).write(base(PAPERS))

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(side_folder, "FileLock", refuse)
    made: list[Path] = []
    with store_in(tmp_path, made).snapshot() as snapshot:
        assert snapshot.vectors is not None
        assert len(snapshot.vectors.nearest(snapshot.index.vectors[0], 3, None, None)) == 3
    assert len(made) == 1


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ExtraMissingError, match="faiss"):
        store_in(tmp_path, []).write(base(PAPERS))
