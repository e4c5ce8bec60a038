"""Indexing killed at random moments: the old index serves on, and the next run continues (case 20)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from indexing_process import SlowEmbedder, settings_for, source_of

from pipeline.errors import IndexMissingError
from pipeline.indexing import update_index
from pipeline.ingest.build import build_index
from pipeline.settings import Settings
from pipeline.stores import encode, json_store
from pipeline.stores.journal import JOURNAL, Journal

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

KILLS = 50
DELAY = 0.002
FILES = 12


class Killer:
    """Starts indexing processes and kills them."""

    def __init__(self, stdin: IO[str], stdout: IO[str]) -> None:
        self._stdin = stdin
        self._stdout = stdout

    def run(self, home: Path, seconds: float | None) -> tuple[bool, float]:
        """Index for so long at most; whether the process was killed, and how long it ran."""
        self._stdin.write(json.dumps([str(home), DELAY]) + "\n")
        self._stdin.flush()
        process = int(self._stdout.readline())
        started = time.monotonic()
        if seconds is not None:
            time.sleep(seconds)
            os.kill(process, signal.SIGKILL)
        self._stdin.write("end\n")
        self._stdin.flush()
        status = int(self._stdout.readline())
        assert status in (0, signal.SIGKILL)
        return status == signal.SIGKILL, time.monotonic() - started


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    script = Path(__file__).parents[1] / "indexing_process.py"
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield Killer(process.stdin, process.stdout)
        process.stdin.close()


def write(settings: Settings, version: int) -> None:
    """A knowledge base that differs from its last version in every second file, one new, one gone."""
    folder = settings.knowledge_base
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        if number % 2 == version % 2 or version == 0:
            lines = [f"Пункт {line} файла {number}, редакция {version}." for line in range(60)]
            (folder / f"{number}.md").write_text(f"# Раздел {number}\n\n{' '.join(lines)}\n", "utf-8")
    (folder / f"new{version}.txt").write_text(f"Новый файл {version}.", "utf-8")
    (folder / f"new{version - 1}.txt").unlink(missing_ok=True)


def contents(folder: Path) -> dict[str, bytes]:
    """The files of an index that equal builds have in common."""
    (cache,) = (folder / "cache").iterdir()
    files = [*folder.glob("*.json"), *cache.glob("*.npy"), cache / "terms.json"]
    return {path.name: path.read_bytes() for path in files}


def test_every_kill_is_recovered(tmp_path: Path, killer: Killer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode, "_SLICE", 8)
    # Only what runs here: a killed process loses nothing that the system has taken.
    monkeypatch.setattr(os, "fsync", lambda _: None)
    chance = random.Random(20)
    settings = settings_for(tmp_path / "home")
    write(settings, 0)
    _, whole_run = killer.run(settings.home, None)
    old = json_store.read_manifest(settings.embeddings).build_id
    kills = continued = version = 0
    while kills < KILLS:
        version += 1
        write(settings, version)
        killed, _ = killer.run(settings.home, chance.uniform(0, whole_run))
        kills += killed
        with Journal(settings.embeddings / JOURNAL) as journal:
            kept = len(journal)
        serving = json_store.load(settings.embeddings, SlowEmbedder().spec).manifest.build_id
        embedder = SlowEmbedder()
        update_index(settings, source_of(embedder))
        fresh = SlowEmbedder()
        expected = build_index(settings.knowledge_base, fresh, settings.index).index
        json_store.save(expected, tmp_path / "expected")
        assert contents(settings.embeddings) == contents(tmp_path / "expected")
        assert serving in (old, expected.manifest.build_id)
        assert embedder.texts + kept <= fresh.texts
        assert not (settings.embeddings / JOURNAL).exists()
        assert not list(settings.embeddings.glob("*.new"))
        continued += kept > 0
        old = expected.manifest.build_id
    assert continued > 0


def test_a_first_run_that_was_killed_leaves_no_index_and_is_continued(tmp_path: Path, killer: Killer) -> None:
    settings = settings_for(tmp_path)
    write(settings, 0)
    killed, _ = killer.run(settings.home, 0.05)
    if killed:
        with pytest.raises(IndexMissingError):
            json_store.load(settings.embeddings)
    killed, _ = killer.run(settings.home, None)
    assert not killed
    json_store.load(settings.embeddings, SlowEmbedder().spec)
