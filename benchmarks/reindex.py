"""``otvet index`` after one file of 500 has changed: the whole command, and the part of it that indexes.

``python benchmarks/reindex.py [--files 500] [--rounds 5]``. The first index is made with an
embedder that costs no time (``stand_in.py``); the changes are encoded by the real one. No language model
is loaded. Target: 2 s.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pipeline import bootstrap
from pipeline.indexing import EmbedderSource, update_index
from pipeline.settings import load_settings

_TOPICS = 3  # of a file: 230,000 tokens in 500 files


def main() -> None:
    """Print both medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        measure(Path(home), options.files, options.rounds)


def measure(home: Path, files: int, rounds: int) -> None:
    """Index, then change a file, and index again, several times."""
    from stand_in import StandIn, write_texts  # not before the pipeline has told numpy its threads

    settings = load_settings({"home": home, "profile": "search"}).settings
    write_texts(settings.knowledge_base, files * _TOPICS, _TOPICS)
    spec = bootstrap.create_embedder(settings).spec
    first = update_index(settings, EmbedderSource(spec.id, spec.prefix_scheme, lambda: StandIn(spec)))
    assert first is not None
    some = sorted(settings.knowledge_base.rglob("*.txt"))
    environment = {**os.environ, "OTVET_HOME": str(home), "OTVET_PROFILE": "search"}
    commands: list[tuple[float, float]] = []
    within: list[tuple[float, float]] = []
    for number in range(rounds):
        for times, run in ((commands, _command), (within, _here)):
            file = some[(2 * number + (times is within)) % len(some)]
            file.write_text(file.read_text(encoding="utf-8") + f" Изменено {number}.", encoding="utf-8")
            started, worked = time.perf_counter(), _processor_seconds()
            run(home, environment)
            times.append((time.perf_counter() - started, _processor_seconds() - worked))
    print(
        f"{first.indexed} files, {first.chunks} passages, {first.tokens} tokens; {rounds} changes of one file"
    )
    for name, times in (("otvet index, the whole command", commands), ("indexing alone", within)):
        wall, cpu = ([one[place] for one in times] for place in (0, 1))
        print(
            f"{name:34} {statistics.median(wall):6.2f} s, at most {max(wall):.2f} s; "
            f"{statistics.median(cpu):.2f} s of processor time"
        )
    print(time.strftime("%Y-%m-%d %H:%M"))


def _processor_seconds() -> float:
    """Of this process and of those it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _command(home: Path, environment: dict[str, str]) -> None:
    del home
    command = [sys.executable, "-m", "pipeline.cli", "index"]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


def _here(home: Path, environment: dict[str, str]) -> None:
    del environment
    report = bootstrap.build(load_settings({"home": home, "profile": "search"}).settings)
    assert report is not None
    assert report.read == 1


if __name__ == "__main__":
    main()
