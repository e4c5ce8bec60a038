"""100,000 passages, indexed and searched: seconds, milliseconds and memory.

``python benchmarks/large.py [--chunks N] [--work FOLDER]``. The product's own indexing reads text files
and makes the index (8 GB for 100,000 passages, removed again at the end unless ``--keep``) with an
embedder that costs no time (``stand_in.py``); questions are encoded by the real one.
Targets: indexing within 3 GB of memory; half of the searches within 40 ms, within 1 GB.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from measures import percentile
from memory_watch import MemoryWatch
from protocol import Side

from pipeline import bootstrap
from pipeline.settings import Settings, load_settings

_HERE = Path(__file__).resolve().parent
_WARM_UPS = 10


def main() -> None:
    """Make the index, search it, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--work", type=Path, default=_HERE / "results" / "large")
    parser.add_argument("--keep", action="store_true", help="keep the index, and use the one kept before")
    parser.add_argument("--change", action="store_true", help="index again after a change of one file")
    parser.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    home = options.work.resolve() / str(options.chunks)
    if options.make:
        print(json.dumps(make(home, options.chunks, options.searches + _WARM_UPS, change=options.change)))
        return
    try:
        if not (home / "questions.json").is_file():
            # In a process of its own: its memory is not that of a search.
            again = [sys.executable, __file__, "--make", "--chunks", str(options.chunks)]
            again += ["--searches", str(options.searches), "--work", str(options.work)]
            again += ["--change"] if options.change else []
            made = subprocess.run(again, check=True, stdout=subprocess.PIPE, text=True)
            print_made(json.loads(made.stdout.splitlines()[-1]))
        search(home, options.searches)
    finally:
        if not options.keep:
            shutil.rmtree(home, ignore_errors=True)


def make(home: Path, chunks: int, questions: int, *, change: bool) -> dict[str, Any]:
    """Write a knowledge base and index it, with ``change`` a second time after a change of one file."""
    from stand_in import StandIn, write_texts
    from synthetic import make_questions

    from pipeline.indexing import EmbedderSource, update_index
    from pipeline.stores import json_store

    settings = _settings(home)
    shutil.rmtree(home, ignore_errors=True)
    characters = write_texts(settings.knowledge_base, chunks)
    spec = bootstrap.create_embedder(settings).spec
    source = EmbedderSource(spec.id, spec.prefix_scheme, lambda: StandIn(spec))
    with MemoryWatch() as watch:
        started = time.perf_counter()
        report = update_index(settings, source)
        seconds = time.perf_counter() - started
    assert report is not None
    runs = [("indexing, the model's time left out", seconds, dict(watch.peaks))]
    if change:
        file = next(path for path in sorted(settings.knowledge_base.rglob("*.txt")))
        file.write_text(file.read_text(encoding="utf-8") + " изменено", encoding="utf-8")
        with MemoryWatch() as watch:
            started = time.perf_counter()
            update_index(settings, source)
            seconds = time.perf_counter() - started
        runs.append(("again after one changed file", seconds, dict(watch.peaks)))
    asked = make_questions(json_store.load(settings.embeddings), questions)
    (home / "questions.json").write_text(json.dumps(asked, ensure_ascii=False), encoding="utf-8")
    sizes = {path.name: path.stat().st_size for path in settings.embeddings.rglob("*") if path.is_file()}
    return {
        "files": report.found,
        "characters": characters,
        "chunks": report.chunks,
        "tokens": report.tokens,
        "runs": runs,
        "json": sum(size for name, size in sizes.items() if name.endswith(".json")),
        "bytes": sum(sizes.values()),
    }


def print_made(made: dict[str, Any]) -> None:
    """What indexing took."""
    print(
        f"{made['files']} files, {made['chunks']} passages, {made['tokens'] / 1e6:.1f} M tokens; "
        f"index {made['bytes'] / 1e9:.1f} GB, {made['json'] / 1e9:.1f} of it JSON"
    )
    for name, seconds, peaks in made["runs"]:
        memory = f"{peaks['private_mb']:.0f} MB private, {peaks['resident_mb']:.0f} MB with mapped files"
        print(f"{name:36} {seconds:8.1f} s, at most {memory}", flush=True)


def search(home: Path, count: int) -> None:
    """Ask in a process of its own."""
    questions = json.loads((home / "questions.json").read_text(encoding="utf-8"))
    side = Side(_HERE / "ours.py", ["--home", str(home), "--profile", "search"])
    try:
        loaded = side.call("load")
        loaded_at = side.seconds_alive()
        first = side.call("search", question=questions[0])["seconds"]
        for question in questions[1:_WARM_UPS]:
            side.call("search", question=question)
        told = [side.call("search", question=question) for question in questions[_WARM_UPS:][:count]]
        filtered = [side.call("search", question=one, path_prefix="000/") for one in questions[:_WARM_UPS]]
    finally:
        side.close()
    times = [one["seconds"] for one in told]
    stages = {
        name: statistics.median(one["timings_ms"][name] for one in told) for name in told[0]["timings_ms"]
    }
    cpu = sum(one["cpu_s"] for one in told) / len(told)
    print(f"{'process start until ready':36} {loaded_at:8.2f} s")
    print(f"{'first search':36} {first * 1000:8.1f} ms")
    for name, part in (("p50", 0.5), ("p99", 0.99)):
        print(f"{'search, ' + name:36} {percentile(times, part) * 1000:8.1f} ms")
    print("  " + ", ".join(f"{name} {value:.1f}" for name, value in stages.items()))
    print(f"{'processor time a search':36} {cpu * 1000:8.1f} ms")
    print(f"{'with a filter, first':36} {filtered[0]['seconds'] * 1000:8.1f} ms")
    rest = percentile([one["seconds"] for one in filtered[1:]], 0.5)
    print(f"{'with a filter, p50':36} {rest * 1000:8.1f} ms")
    for name, one in (("after loading", loaded), ("after all searches", filtered[-1])):
        print(f"{'memory ' + name:36} {one['private_mb']:8.0f} MB private, {one['mapped_mb']:.0f} MB mapped")
    print(time.strftime("%Y-%m-%d %H:%M"))


def _settings(home: Path) -> Settings:
    return load_settings({"home": home, "profile": "search"}).settings


if __name__ == "__main__":
    main()
