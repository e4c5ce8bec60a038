"""The newest index that can be loaded serves, whatever lies on the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from word_embedder import WordEmbedder

from pipeline.errors import IndexDamagedError, IndexMismatchError, IndexMissingError, IndexUnusableError
from pipeline.index import Index
from pipeline.ingest.build import build_index
from pipeline.settings import IndexSettings
from pipeline.stores import json_store
from pipeline.stores.live import LiveIndex


class Disk:
    """A folder whose index a test changes, and a `LiveIndex` over it that looks when told to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.loads = 0
        self.looked = threading.Event()
        self.closed_eyes = threading.Lock()
        """While it is held, the watcher does not look."""
        self.live = LiveIndex(self._load, self._stamp, seconds=0.01)

    def write(self, text: str, embedder: WordEmbedder | None = None) -> Index:
        base = self.folder.parent / "kb"
        base.mkdir(exist_ok=True)
        (base / "a.md").write_text(text, "utf-8")
        index = build_index(base, embedder or WordEmbedder(), IndexSettings()).index
        json_store.save(index, self.folder)
        return index

    def wait(self, condition: Callable[[], bool]) -> None:
        """Until the watcher has brought something about."""
        for _ in range(2000):
            if condition():
                return
            self.looked.wait(0.05)
            self.looked.clear()
        raise AssertionError

    def _load(self) -> Index:
        self.loads += 1
        return json_store.load(self.folder, WordEmbedder().spec)

    def _stamp(self) -> object:
        with self.closed_eyes:
            self.looked.set()
            return json_store.stamp(self.folder)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path / "embeddings")
    yield made
    made.live.close()


def test_a_new_index_takes_the_place_of_the_old_one(disk: Disk) -> None:
    first = disk.write("Один.")
    held = disk.live.get()
    assert held.manifest == first.manifest
    assert disk.live.get() is held
    second = disk.write("Два.")
    disk.wait(lambda: disk.live.get() is not held)
    assert disk.live.get().manifest == second.manifest
    assert disk.live.problem() is None
    # Whoever still works with the old one can go on: its files are mapped, though their names are gone.
    assert held.chunks[0].text == "Один."
    assert len(held.tokens[0]) == 3  # the topic, the word, the full stop
    assert held.vectors.sum() == first.vectors.sum()


def test_an_index_that_has_not_changed_is_loaded_once(disk: Disk) -> None:
    disk.write("Один.")
    disk.live.get()
    for _ in range(5):
        disk.looked.clear()
        assert disk.looked.wait(5)
    assert disk.loads == 1


def test_there_may_be_no_index_at_first(disk: Disk) -> None:
    with pytest.raises(IndexMissingError):
        disk.live.get()
    with pytest.raises(IndexMissingError):
        disk.live.get()
    index = disk.write("Один.")
    disk.wait(lambda: disk.live.problem() is None)
    assert disk.live.get().manifest == index.manifest


@pytest.mark.parametrize("name", ["chunks.json", "manifest.json"])
def test_a_damaged_index_leaves_the_old_one_in_use_until_it_is_mended(disk: Disk, name: str) -> None:
    first = disk.write("Один.")
    disk.live.get()
    with disk.closed_eyes:
        disk.write("Два.")
        path = disk.folder / name
        path.write_bytes(path.read_bytes()[:-3])
    disk.wait(lambda: disk.live.problem() is not None)
    assert isinstance(disk.live.problem(), IndexDamagedError)
    assert disk.live.get().manifest == first.manifest
    mended = disk.write("Три.")
    disk.wait(lambda: disk.live.problem() is None)
    disk.wait(lambda: disk.live.get().manifest == mended.manifest)


def test_what_is_mended_in_place_is_found_too(disk: Disk) -> None:
    disk.write("Один.")
    disk.live.get()
    path = disk.folder / "chunks.json"
    with disk.closed_eyes:
        index = disk.write("Два.")
        path.rename(path.with_suffix(".away"))
    disk.wait(lambda: disk.live.problem() is not None)
    path.with_suffix(".away").rename(path)
    disk.wait(lambda: disk.live.problem() is None)
    assert disk.live.get().manifest == index.manifest


def test_an_index_of_another_embedder_is_not_taken(disk: Disk) -> None:
    """Case 21."""
    first = disk.write("Один.")
    disk.live.get()
    disk.write("Два.", WordEmbedder(name="other"))
    disk.wait(lambda: disk.live.problem() is not None)
    problem = disk.live.problem()
    assert isinstance(problem, IndexMismatchError)
    assert "other" in problem.message("ru")
    assert disk.live.get().manifest == first.manifest


def test_an_index_that_is_taken_away_serves_on(disk: Disk) -> None:
    first = disk.write("Один.")
    disk.live.get()
    (disk.folder / "manifest.json").unlink()
    disk.wait(lambda: disk.live.problem() is not None)
    assert disk.live.get().manifest == first.manifest


def test_whatever_stops_a_load_does_not_stop_the_service(tmp_path: Path) -> None:
    index = Disk(tmp_path / "embeddings").write("Один.")
    newer = replace(index)
    answers: list[Index | Exception] = [index, MemoryError("too large"), newer]
    looks = iter(range(1000))

    def load() -> Index:
        found = answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    live = LiveIndex(load, lambda: next(looks) if answers else 1000, seconds=0.01)
    assert live.get() is index
    for _ in range(500):
        if live.get() is newer:
            break
        threading.Event().wait(0.01)
    assert live.get() is newer
    live.close()


def test_the_first_load_may_fail_in_any_way() -> None:
    def load() -> Index:
        raise OSError(5, "input/output error")

    live = LiveIndex(load, lambda: None, seconds=60)
    with pytest.raises(IndexUnusableError, match="input/output"):
        live.get()
    live.close()


def test_many_first_callers_load_once(disk: Disk) -> None:
    disk.write("Один.")
    found: list[Index] = []
    threads = [threading.Thread(target=lambda: found.append(disk.live.get())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert disk.loads == 1
    assert len({id(index) for index in found}) == 1


def test_damage_that_a_load_does_not_see_is_mended_behind_its_back(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "embeddings")
    index = disk.write("Один.")
    checks: list[bool] = []

    def check() -> bool:
        checks.append(json_store.check_copies(disk.folder))
        return checks[-1]

    def load() -> Index:
        return json_store.load(disk.folder, WordEmbedder().spec, WordEmbedder())

    live = LiveIndex(load, lambda: json_store.stamp(disk.folder), 0.01, check=check, check_after=0.05)
    vectors = next(disk.folder.rglob("vectors.npy"))
    data = bytearray(vectors.read_bytes())
    data[-1] ^= 0x40
    vectors.write_bytes(data)
    try:
        held = live.get()
        assert held.vectors[-1, -1] != index.vectors[-1, -1]
        disk.wait(lambda: live.get() is not held)
        assert live.get().vectors[-1, -1] == index.vectors[-1, -1]
        assert checks == [False]
    finally:
        live.close()


def test_what_cannot_be_checked_serves_on(disk: Disk, tmp_path: Path) -> None:
    disk.write("Один.")
    tried = threading.Event()

    def check() -> bool:
        tried.set()
        raise IndexMissingError(path=tmp_path)

    live = LiveIndex(lambda: json_store.load(disk.folder), lambda: 1, 0.01, check=check, check_after=0.01)
    held = live.get()
    assert tried.wait(10)
    assert live.get() is held
    live.close()
