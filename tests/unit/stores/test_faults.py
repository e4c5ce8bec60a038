"""A full or closed disk: clear words, the old index whole, nothing left behind, what was encoded kept."""

from __future__ import annotations

import errno
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from index_files import index_files
from indexing_process import SlowEmbedder, settings_for, source_of

from pipeline.errors import IndexLockedError, IndexNotWrittenError, KnowledgeBaseMissingError
from pipeline.indexing import update_index
from pipeline.settings import Settings
from pipeline.stores import json_store
from pipeline.stores.faults import writing
from pipeline.stores.journal import JOURNAL, Journal
from pipeline.stores.lock import index_lock


def index(settings: Settings) -> SlowEmbedder:
    embedder = SlowEmbedder()
    update_index(settings, source_of(embedder))
    return embedder


def write(settings: Settings, version: int, files: int = 4) -> None:
    settings.knowledge_base.mkdir(exist_ok=True)
    for number in range(files):
        text = f"# Отпуск {number}\n\nРедакция {version} файла {number}.\n"
        (settings.knowledge_base / f"{number}.md").write_text(text, "utf-8")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = settings_for(tmp_path)
    write(made, 1)
    index(made)
    write(made, 2)
    return made


def refuse(number: int) -> OSError:
    return OSError(number, os.strerror(number), "embeddings/x")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, ("нет места", "no room")),
        (errno.EDQUOT, ("нет места", "no room")),
        (errno.EROFS, ("нельзя писать", "cannot be written")),
        (errno.EACCES, ("нельзя писать", "cannot be written")),
        (errno.EIO, ("не удалась", "failed")),
    ],
)
def test_the_error_says_what_is_wrong_and_what_to_do(number: int, words: tuple[str, str]) -> None:
    with pytest.raises(IndexNotWrittenError) as caught, writing(Path("y")):
        raise refuse(number)
    assert words[0] in caught.value.message("ru")
    assert words[1] in caught.value.message("en")
    assert "embeddings/x" in caught.value.message("ru")
    assert "цел" in caught.value.hint("ru")
    assert "otvet index" in caught.value.hint("en")


def full_at(step: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Refuse the ``step``-th write and all that follow; how many there were."""
    done = 0

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal done
            done += 1
            if done > step:
                raise refuse(errno.ENOSPC)
            return real(*args, **kwargs)

        return call

    class FullFile(io.FileIO):
        write = counted(io.FileIO.write)

    monkeypatch.setattr("pipeline.stores.journal.io.FileIO", FullFile)
    monkeypatch.setattr(np, "save", counted(np.save))
    monkeypatch.setattr(Path, "write_bytes", counted(Path.write_bytes))
    monkeypatch.setattr(Path, "mkdir", counted(Path.mkdir))
    monkeypatch.setattr("pipeline.stores.switch.os.fsync", counted(os.fsync))
    return lambda: done


def test_a_disk_that_fills_at_any_step_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = settings_for(tmp_path / "first")
    first.home.mkdir()
    write(first, 1)
    index(first)
    before = index_files(first.embeddings)
    write(first, 2)
    committed = []
    for step in range(200):
        settings = settings_for(tmp_path / str(step))
        shutil.copytree(first.home, settings.home)
        with monkeypatch.context() as patch:
            full_at(step, patch)
            if not _fails(settings):
                break
        found = json_store.load(settings.embeddings, SlowEmbedder().spec)
        committed.append("Редакция 2" in found.chunks[0].text)
        with Journal(settings.embeddings / JOURNAL) as journal:
            kept = len(journal)
        if not committed[-1]:
            assert index_files(settings.embeddings) == before
            left = {path.name for path in settings.embeddings.iterdir()} - {JOURNAL}
            assert left == {"cache", "index.lock", *before} - {"terms.json"} - set(_arrays(before))
            assert index(settings).texts + kept == 8
        assert index_files(settings.embeddings) != before
        shutil.rmtree(settings.home)
    # Only when all is written can nothing but the renames fail, and those the next reader finishes.
    assert committed == sorted(committed)
    assert committed.count(False) > 10


def _fails(settings: Settings) -> bool:
    try:
        index(settings)
    except IndexNotWrittenError:
        return True
    return False


def _arrays(files: dict[str, bytes]) -> list[str]:
    return [name for name in files if name.endswith(".npy")]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if sys.platform != "linux" or shutil.which("mount") is None:
        pytest.skip("needs Linux")
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_really_full_disk(small_disk: Path) -> None:
    settings = settings_for(small_disk)
    write(settings, 1)
    index(settings)
    before = index_files(settings.embeddings)
    write(settings, 2, files=24)
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * (shutil.disk_usage(small_disk).free - 20_000))
    with pytest.raises(IndexNotWrittenError, match="no room"):
        index(settings)
    assert index_files(settings.embeddings) == before
    filler.unlink()
    index(settings)
    assert len(json_store.load(settings.embeddings).chunks) == 24


def test_a_disk_that_is_mounted_for_reading_only(small_disk: Path) -> None:
    settings = settings_for(small_disk)
    write(settings, 1)
    index(settings)
    write(settings, 2)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(IndexNotWrittenError, match="cannot be written to"):
        index(settings)
    assert "Редакция 1" in json_store.load(settings.embeddings, SlowEmbedder().spec).chunks[0].text


@pytest.mark.skipif(
    sys.platform == "win32" or os.getuid() == 0, reason="needs a user who may not write everywhere"
)
def test_a_folder_that_may_not_be_written_to(settings: Settings) -> None:
    before = index_files(settings.embeddings)
    settings.embeddings.chmod(0o500)
    try:
        with pytest.raises(IndexNotWrittenError, match="cannot be written to"):
            index(settings)
    finally:
        settings.embeddings.chmod(0o755)
    assert index_files(settings.embeddings) == before


def test_two_indexers_at_once(settings: Settings) -> None:
    before = index_files(settings.embeddings)
    with index_lock(settings.embeddings), pytest.raises(IndexLockedError):
        index(settings)
    assert index_files(settings.embeddings) == before
    index(settings)


def test_a_knowledge_base_out_of_reach_does_not_empty_its_index(settings: Settings) -> None:
    before = index_files(settings.embeddings)
    settings.knowledge_base.rename(settings.home / "away")
    for rebuild in (False, True):
        with pytest.raises(KnowledgeBaseMissingError) as caught:
            update_index(settings, source_of(SlowEmbedder()), rebuild=rebuild)
        assert "4" in caught.value.message("ru")
    assert index_files(settings.embeddings) == before
    settings.knowledge_base.mkdir()
    index(settings)
    assert not json_store.load(settings.embeddings).chunks


def test_without_an_index_an_absent_folder_is_an_empty_one(tmp_path: Path) -> None:
    """Case 7."""
    settings = settings_for(tmp_path)
    index(settings)
    assert not json_store.load(settings.embeddings).chunks
