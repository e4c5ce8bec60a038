"""Kills indexing at random moments and sees whether everything is recovered.

``python tests/index_killer.py KILLS [SEED]`` is the long version of ``integration/test_index_kills.py``.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from index_files import index_files
from indexing_process import SlowEmbedder, settings_for, source_of

from pipeline.indexing import update_index
from pipeline.ingest.build import build_index
from pipeline.settings import Settings
from pipeline.stores import json_store
from pipeline.stores.journal import JOURNAL, Journal

__all__ = ["Killer", "Tally", "kill_and_recover", "killing", "write_knowledge_base"]

_DELAY = 0.002
_FILES = 12


@dataclass(slots=True)
class Tally:
    """What became of the kills.

    Attributes:
        kills: Processes that were killed before their end.
        encoding: Kills that left encoded texts in the journal, all of which were taken over.
        switched: Kills after which the new index was already the one in use.
    """

    kills: int = 0
    encoding: int = 0
    switched: int = 0


class Killer:
    """Starts indexing processes and kills them."""

    def __init__(self, stdin: IO[str], stdout: IO[str]) -> None:
        self._stdin = stdin
        self._stdout = stdout

    def run(self, home: Path, seconds: float | None) -> tuple[bool, float]:
        """Index for so long at most; whether the process was killed, and how long it ran."""
        self._tell(json.dumps([str(home), _DELAY]))
        process = int(self._stdout.readline())
        started = time.monotonic()
        if seconds is not None:
            time.sleep(seconds)
            os.kill(process, signal.SIGKILL)
        self._tell("end")
        status = int(self._stdout.readline())
        assert status in (0, signal.SIGKILL)
        return status == signal.SIGKILL, time.monotonic() - started

    def _tell(self, line: str) -> None:
        self._stdin.write(f"{line}\n")
        self._stdin.flush()


@contextmanager
def killing() -> Iterator[Killer]:
    """A process that forks indexing ones, so that each starts in no time."""
    script = Path(__file__).with_name("indexing_process.py")
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield Killer(process.stdin, process.stdout)
        process.stdin.close()


def write_knowledge_base(settings: Settings, version: int) -> None:
    """It differs from its last version in every second file; one is new, one gone."""
    folder = settings.knowledge_base
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(_FILES):
        if number % 2 == version % 2 or version == 0:
            lines = [f"Пункт {line} файла {number}, редакция {version}." for line in range(60)]
            (folder / f"{number}.md").write_text(f"# Раздел {number}\n\n{' '.join(lines)}\n", "utf-8")
    (folder / f"new{version}.txt").write_text(f"Новый файл {version}.", "utf-8")
    (folder / f"new{version - 1}.txt").unlink(missing_ok=True)


def kill_and_recover(folder: Path, killer: Killer, kills: int, chance: random.Random) -> Tally:
    """Kill so many runs, each at a random moment, and recover from each.

    Asserts after every kill that a whole index serves, the old one or the new one; that the next run
    encodes nothing again; and that its result is, byte for byte, that of a build from nothing.
    """
    settings = settings_for(folder / "home")
    write_knowledge_base(settings, 0)
    _, whole_run = killer.run(settings.home, None)
    old = json_store.read_manifest(settings.embeddings).build_id
    tally = Tally()
    version = 0
    while tally.kills < kills:
        version += 1
        write_knowledge_base(settings, version)
        counting = SlowEmbedder()
        before = json_store.load(settings.embeddings)
        build_index(settings.knowledge_base, counting, settings.index, previous=before)
        needed = counting.texts
        killed, _ = killer.run(settings.home, chance.uniform(0, whole_run))
        with Journal(settings.embeddings / JOURNAL) as journal:
            kept = len(journal)
        serving = json_store.load(settings.embeddings, SlowEmbedder().spec).manifest.build_id
        embedder = SlowEmbedder()
        update_index(settings, source_of(embedder))
        expected = build_index(settings.knowledge_base, SlowEmbedder(), settings.index).index
        json_store.save(expected, folder / "expected")
        new = expected.manifest.build_id
        assert index_files(settings.embeddings) == index_files(folder / "expected")
        assert serving in (old, new)
        assert embedder.texts == (needed - kept if serving == old else 0)
        left = {path.name for path in settings.embeddings.iterdir()}
        assert left == {"cache", "index.lock", *(path.name for path in settings.embeddings.glob("*.json"))}
        assert len(list((settings.embeddings / "cache").iterdir())) == 1
        tally.kills += killed
        tally.encoding += killed and kept > 0 and serving == old
        tally.switched += killed and serving == new
        old = new
    return tally


def main() -> None:
    """Run it for as long as one likes."""
    kills = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, killing() as killer:
        tally = kill_and_recover(Path(folder), killer, kills, random.Random(seed))
    sys.stdout.write(f"{tally}, all recovered, {time.monotonic() - started:.0f} s\n")


if __name__ == "__main__":
    main()
