"""Search over 100,000 passages: milliseconds and memory, with made-up vectors (no embedding run).

``python benchmarks/large.py [--chunks N] [--work FOLDER]``. The index (8 GB for 100,000 passages) is made
on the first run. Targets: half of the searches within 40 ms, at most 1 GB of memory.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from measures import percentile
from protocol import Side

from pipeline import bootstrap
from pipeline.settings import load_settings

_HERE = Path(__file__).resolve().parent
_WARM_UPS = 10


def main() -> None:
    """Make the index if it is not there, search, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--work", type=Path, default=_HERE / "results" / "large")
    parser.add_argument("--make", action="store_true", help="only make the index")
    options = parser.parse_args()
    home = options.work.resolve() / str(options.chunks)
    if options.make:
        make(home, options.chunks, options.searches + _WARM_UPS)
        return
    if not (home / "questions.json").is_file():
        # In a process of its own: its memory is not that of a search.
        again = [sys.executable, __file__, "--make", "--chunks", str(options.chunks)]
        again += ["--searches", str(options.searches), "--work", str(options.work)]
        subprocess.run(again, check=True)
    search(home, options.searches)


def make(home: Path, chunks: int, questions: int) -> None:
    """Write the index and questions about it."""
    from synthetic import make_questions, store

    settings = load_settings({"home": home, "profile": "search"}).settings
    index = store(chunks, bootstrap.create_embedder(settings).spec, settings.embeddings)
    asked = make_questions(index, questions)
    (home / "questions.json").write_text(json.dumps(asked, ensure_ascii=False), encoding="utf-8")


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
    finally:
        side.close()
    times = [one["seconds"] for one in told]
    stages = {
        name: statistics.median(one["timings_ms"][name] for one in told) for name in told[0]["timings_ms"]
    }
    print(f"process start until ready {loaded_at:8.2f} s")
    print(f"first search              {first * 1000:8.1f} ms")
    for name, part in (("p50", 0.5), ("p99", 0.99)):
        print(f"search, {name}               {percentile(times, part) * 1000:8.1f} ms")
    print("  " + ", ".join(f"{name} {value:.1f}" for name, value in stages.items()))
    cpu = sum(one["cpu_s"] for one in told) / len(told)
    print(f"processor time a search   {cpu * 1000:8.1f} ms")
    print(f"memory after loading      {loaded['peak_mb']:8.0f} MB at most")
    print(
        f"memory after searching    {side.peak_mb:8.0f} MB at most, {told[-1]['private_mb']:.0f} MB private"
    )
    print(time.strftime("%Y-%m-%d %H:%M"))


if __name__ == "__main__":
    main()
