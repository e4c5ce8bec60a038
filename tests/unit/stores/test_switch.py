"""A crash at any step leaves the old files or the new ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from word_embedder import WordEmbedder

from pipeline.index import Index
from pipeline.ingest.build import build_index
from pipeline.settings import IndexSettings
from pipeline.stores import switch
from pipeline.stores.json_store import load, save


class Crash(BaseException):
    """The process ends here."""


def crash_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """End the process before its ``step``-th change of a file."""
    done = 0

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal done
            done += 1
            if done > step:
                raise Crash
            return real(*args, **kwargs)

        return call

    for name in ("replace", "unlink", "write_bytes", "mkdir"):
        monkeypatch.setattr(Path, name, counted(getattr(Path, name)))
    monkeypatch.setattr("pipeline.stores.switch.os.fsync", counted(switch.os.fsync))
    monkeypatch.setattr("shutil.rmtree", counted(__import__("shutil").rmtree))


@pytest.fixture
def indexes(tmp_path: Path) -> tuple[Index, Index]:
    made = []
    for text in ("Старый текст.", "Новый текст. Ещё один.\n\n# Раздел\n\nДругой."):
        base = tmp_path / f"kb{len(made)}"
        base.mkdir()
        (base / "a.md").write_text(text, "utf-8")
        made.append(build_index(base, WordEmbedder(), IndexSettings()).index)
    return made[0], made[1]


def test_a_crash_at_every_step_leaves_one_whole_index(
    tmp_path: Path, indexes: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 20: kill -9 during save."""
    old, new = indexes
    outcomes = []
    for step in range(200):
        folder = tmp_path / f"embeddings{step}"
        save(old, folder)
        with monkeypatch.context() as patch:
            crash_at(step, patch)
            try:
                save(new, folder)
            except Crash:
                finished = False
            else:
                finished = True
        found = load(folder, WordEmbedder().spec, WordEmbedder())
        assert found.manifest.build_id in (old.manifest.build_id, new.manifest.build_id)
        expected = new if found.manifest == new.manifest else old
        assert found.chunks == expected.chunks
        assert (found.vectors == expected.vectors).all()
        outcomes.append(found.manifest == new.manifest)
        save(new, folder)
        assert load(folder).chunks == new.chunks
        assert not list(folder.glob("*.new"))
        if finished:
            break
    assert finished
    assert outcomes == sorted(outcomes)
    assert not outcomes[0]
    assert outcomes[-1]


def test_leftovers_without_a_marker_count_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    switch.stage(tmp_path, {"a": [b"new"]})
    switch.recover(tmp_path)
    assert switch.current(tmp_path, "a").read_bytes() == b"old"


def test_a_committed_switch_is_finished_by_the_next_reader(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    switch.stage(tmp_path, {"a": [b"new"], "b": [b"n", b"ew"]})
    (tmp_path / switch.MARKER).write_bytes(b'["a","b"]')
    assert switch.current(tmp_path, "a").read_bytes() == b"new"
    switch.recover(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    assert (tmp_path / "a").read_bytes() == b"new"


def test_where_nothing_may_be_written_the_new_files_are_read_in_place(
    tmp_path: Path, indexes: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = indexes
    save(old, tmp_path / "embeddings")

    def refuse(*_: Any) -> None:
        raise PermissionError(13, "read-only")

    real = Path.replace

    def only_marker(self: Path, target: Path) -> Path:
        if self.parent.name == "embeddings" and not self.name.startswith(switch.MARKER):
            refuse()
        return real(self, target)

    monkeypatch.setattr(Path, "replace", only_marker)
    with pytest.raises(PermissionError):
        save(new, tmp_path / "embeddings")
    monkeypatch.setattr(Path, "replace", refuse)
    assert load(tmp_path / "embeddings").chunks == new.chunks


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX errors")
def test_other_errors_are_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    switch.stage(tmp_path, {"a": [b"new"]})
    (tmp_path / switch.MARKER).write_bytes(b'["a"]')

    def fail(*_: Any) -> None:
        raise OSError(5, "input/output error")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="input/output"):
        switch.recover(tmp_path)


def test_a_reader_between_two_renames_waits_for_the_writer(
    tmp_path: Path, indexes: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = indexes
    folder = tmp_path / "embeddings"
    save(new, tmp_path / "other")
    save(old, folder)
    real = Path.read_bytes
    reads = 0

    def racing(self: Path) -> bytes:
        nonlocal reads
        data = real(self)
        if self.name == "manifest.json":
            reads += 1
            if reads == 1:  # the writer finishes right after the old manifest was read
                for path in (tmp_path / "other").glob("*.json"):
                    (folder / path.name).write_bytes(real(path))
        return data

    monkeypatch.setattr(Path, "read_bytes", racing)
    found = load(folder, None, WordEmbedder())
    assert found.chunks == new.chunks
    assert reads > 1


def test_a_build_id_alone_does_not_make_copies_current(tmp_path: Path, indexes: tuple[Index, Index]) -> None:
    old, new = indexes
    save(old, tmp_path)
    swapped = replace(new, manifest=old.manifest)
    save(swapped, tmp_path)
    assert (load(tmp_path).vectors == new.vectors).all()
