"""What a base and its readers need, and whether that is true.

``python benchmarks/capacity.py`` prints three layouts; ``--chunks --searches --answers --remote-answer-s``
asks for one of your own, with prices by ``--core-hour --gb-hour --slot-hour``. ``--check`` compares
predictions with what they were not made from: the size between the two that the lines go through, and the
real line of the generator with answers that come at random. ``--measure`` measures the sizes again with
``large.py`` (some minutes, 5 GB of disk) and writes ``capacity.json``.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from capacity_model import Demand, Need, facts_from, need, waiting_s

from pipeline.generators.scripted import ScriptedGenerator
from pipeline.generators.worker import GeneratorWorker
from pipeline.ports import ChatMessage, Sampling

_HERE = Path(__file__).resolve().parent
_RECORD = _HERE / "data" / "capacity.json"
_SIZES = (2_000, 20_000, 50_000)

# 90 ms: the one statement of ``postgres`` over 100,000 passages (postgres_plan.py). 10 ms: assumed of a
# cluster that searches by vectors and sparse words; put your own figure there.
LAYOUTS = {
    "one laptop, 2,000 passages": (Demand(2_000, 2.0, 0.02, wait_s=10), 1),
    "one laptop at its end, 100,000 passages": (Demand(100_000, 10.0, 0.1, wait_s=10), 1),
    "a department, 300,000 passages, postgres, remote model": (
        Demand(300_000, 20.0, 0.5, remote_answer_s=4.0, store_core_s=0.09),
        4,
    ),
    "a service, 100 million passages, a cluster, remote models": (
        Demand(100_000_000, 2_000.0, 50.0, remote_answer_s=4.0, store_core_s=0.01, reindex_h=24 * 7),
        64,
    ),
}


def main() -> None:
    """Predict, check or measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=float)
    parser.add_argument("--searches", type=float, default=1.0, help="a second")
    parser.add_argument("--answers", type=float, default=0.0, help="a second")
    parser.add_argument("--wait-s", type=float, default=5.0)
    parser.add_argument("--remote-answer-s", type=float, default=0.0)
    parser.add_argument("--store-core-s", type=float, default=0.0, help="of a search in a store of its own")
    parser.add_argument("--workers", type=int, default=1)
    for name in ("core", "gb", "slot"):
        parser.add_argument(f"--{name}-hour", type=float, default=0.0, help="price; none is built in")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--measure", action="store_true")
    options = parser.parse_args()
    if options.measure:
        measure()
    record = json.loads(_RECORD.read_text(encoding="utf-8"))
    if options.check:
        check(record)
        return
    facts = facts_from(record)
    layouts = LAYOUTS
    if options.chunks is not None:
        own = Demand(
            options.chunks,
            options.searches,
            options.answers,
            wait_s=options.wait_s,
            remote_answer_s=options.remote_answer_s,
            store_core_s=options.store_core_s,
        )
        layouts = {"yours": (own, options.workers)}
    prices = (options.core_hour, options.gb_hour, options.slot_hour)
    for name, (demand, workers) in layouts.items():
        show(name, demand, need(demand, facts, workers), prices)


def show(name: str, demand: Demand, wanted: Need, prices: tuple[float, float, float]) -> None:
    """One layout."""
    print(f"{name}: {demand.searches_s:g} searches/s, {demand.answers_s:g} answers/s")
    model = f"{wanted.answer_cores:.1f} cores" if wanted.answer_cores else "remote"
    print(
        f"  search {wanted.search_cores:.1f} cores and {wanted.store_cores:.1f} of the store, "
        f"{wanted.memory_gb:.1f} GB of memory, {wanted.disk_gb:.1f} GB of disk"
    )
    print(f"  answers at once: {wanted.slots} ({model}), mean wait {wanted.wait_s:.1f} s")
    print(f"  {wanted.index_cores:.1f} cores to index all of it anew in {demand.reindex_h:g} h")
    if any(prices):
        print(f"  {wanted.cost(*prices):.0f} a month")


def check(record: Mapping[str, Any]) -> None:
    """Predictions against measurements that they were not made from."""
    facts = facts_from(record)
    middle = record["sizes"][1]
    chunks = middle["chunks"]
    rows = (
        ("search, processor ms", facts.search_core_s.at(chunks) * 1000, middle["search_cpu_ms"]),
        ("private memory, MB", facts.private_mb.at(chunks), middle["private_mb"]),
        ("mapped files, MB", facts.mapped_mb.at(chunks), middle["mapped_mb"]),
        ("index on the disk, MB", facts.disk_mb.at(chunks), middle["disk_mb"]),
    )
    ends = [record["sizes"][place]["chunks"] for place in (0, -1)]
    print(f"{chunks:.0f} passages, predicted from {ends[0]:.0f} and {ends[1]:.0f}")
    for name, said, found in rows:
        print(f"  {name:24} predicted {said:9.1f}, measured {found:9.1f} ({found / said - 1:+.0%})")
    print("answers that come at random, through the real line (mean wait):")
    for slots, busy in ((1, 0.6), (2, 0.7), (4, 0.8)):
        said, found = waits(slots, busy)
        print(f"  {slots} at once, {busy:.0%} busy: predicted {said:.3f} s, measured {found:.3f} s")


def waits(slots: int, busy: float, count: int = 300, each_s: float = 0.1) -> tuple[float, float]:
    """Mean wait as predicted, and as `GeneratorWorker` has it with a scripted model."""
    begun: dict[str, float] = {}

    def reply(messages: Sequence[ChatMessage]) -> str:
        begun[messages[-1].content] = time.monotonic()
        return "word"

    worker = GeneratorWorker(lambda: ScriptedGenerator(reply, delay_s=each_s), 1000, parallel=slots)
    worker.wait_ready(10)
    chance = random.Random(7)
    asked: dict[str, float] = {}
    ended: dict[str, float] = {}

    def ask(name: str) -> None:
        asked[name] = time.monotonic()
        worker.submit([ChatMessage("user", name)], Sampling(), client=name).text()
        ended[name] = time.monotonic()

    threads = []
    for number in range(count):
        thread = threading.Thread(target=ask, args=(str(number),))
        thread.start()
        threads.append(thread)
        time.sleep(chance.expovariate(busy * slots / each_s))
    for thread in threads:
        thread.join()
    worker.close()
    # By the rate and the length that really were: a busy machine stretches both.
    rate = count / (max(asked.values()) - min(asked.values()))
    each = statistics.mean(ended[name] - begun[name] for name in asked)
    return waiting_s(rate, each, slots), statistics.mean(begun[name] - asked[name] for name in asked)


def measure() -> None:
    """Write ``capacity.json`` from runs of ``large.py``; what other benchmarks measure is kept."""
    record = json.loads(_RECORD.read_text(encoding="utf-8"))
    record["sizes"] = [_size(chunks) for chunks in _SIZES]
    record["measured"] = time.strftime("%Y-%m-%d", time.gmtime())
    _RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _size(chunks: int) -> dict[str, float]:
    command = [sys.executable, str(_HERE / "large.py"), "--chunks", str(chunks), "--searches", "60"]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return size_of(told)


def size_of(told: str) -> dict[str, float]:
    """The figures in what ``large.py`` prints."""

    def number(pattern: str) -> float:
        found = re.search(pattern, told)
        assert found is not None, pattern
        return float(found[1])

    return {
        "chunks": number(r"(\d+) passages"),
        "search_cpu_ms": number(r"processor time a search\s+([\d.]+) ms"),
        "search_p50_ms": number(r"search, p50\s+([\d.]+) ms"),
        "private_mb": number(r"memory after all searches\s+(\d+) MB"),
        "mapped_mb": number(r"memory after all searches\s+\d+ MB private, (\d+) MB"),
        "disk_mb": number(r"index ([\d.]+) GB") * 1000,
    }


if __name__ == "__main__":
    main()
