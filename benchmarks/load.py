"""Loads a server on this machine and looks whether it keeps its promises.

``python benchmarks/load.py`` starts a server of its own on a free port of 127.0.0.1, talks to nothing else,
and ends by itself. The phases: many clients at once, search and answers mixed; as many answers as it takes
to see whether memory stays flat; clients that leave in mid-answer; an engine that fails. ``--generator
scripted`` says the codes that stand in its prompt, so that an answer mixed up with another one is seen at
once; ``smollm2`` and ``qwen`` are the real models.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
from load_clients import Caller
from load_report import Report, Tally, milliseconds, percentile
from load_server import BREAK, GENERATORS, object_name

HERE = Path(__file__).resolve().parent
KINDS = ("search", "search", "search", "search", "search", "ask", "ask", "data", "stream", "background")
ANSWERS = ("ask", "data", "stream", "background")
HEALTH_LIMIT_S = 0.05
CANCEL_LIMIT_S = 0.2
GROWTH_LIMIT = 0.05
ENOUGH_ANSWERS = 200
LONGEST_S = 900.0


@dataclass
class Server:
    """The server under load."""

    process: psutil.Process
    port: int

    def resident_mb(self) -> float:
        """Its memory."""
        return float(self.process.memory_info().rss) / (1 << 20)


def main() -> int:
    """Run all phases; 0 when every promise was kept."""
    arguments = _arguments()
    report = Report()
    with _running(arguments) as server:
        alone = _alone(server, report)
        _together(server, arguments, report)
        _memory(server, arguments, report)
        _leavers(server, arguments, alone, report)
        _broken(server, report)
    good = report.close()
    if arguments.json:
        arguments.json.write_text(json.dumps(report.figures, ensure_ascii=False, indent=2), encoding="utf-8")
    return 0 if good and not (report.slow and arguments.strict) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generator", choices=GENERATORS, default="scripted")
    parser.add_argument("--server", choices=("fastapi", "flask"), default="fastapi")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long all clients ask at once")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--answers", type=int, default=500, help="answers in all, for the memory")
    parser.add_argument("--leavers", type=int, default=100)
    parser.add_argument("--strict", action="store_true", help="fail on promises about time too")
    parser.add_argument("--json", type=Path, help="write the figures here")
    return parser.parse_args()


@contextmanager
def _running(arguments: argparse.Namespace) -> Iterator[Server]:
    command = [sys.executable, str(HERE / "load_server.py")]
    command += ["--generator", arguments.generator, "--server", arguments.server]
    # It ends when its input does, so it never outlives this process.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise SystemExit("the server did not start")
        server = Server(psutil.Process(process.pid), json.loads(line)["port"])
        caller = Caller(server.port, -1)
        _until(lambda: caller.status()["generator"]["state"] == "ready", 120)
        caller.leave()
        yield server
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def _alone(server: Server, report: Report) -> float:
    """Median seconds of an answer when nobody else asks."""
    caller = Caller(server.port, 0)
    for _ in range(5):
        caller.once("ask")
    report.add("alone", caller.tally)
    caller.leave()
    times = caller.tally.seconds.get("ask", [])
    median = statistics.median(times) if times else 0.0
    report.note("answer_alone_s", round(median, 3))
    return median


def _together(server: Server, arguments: argparse.Namespace, report: Report) -> None:
    """All clients at once, the health watched all the while, and before for comparison."""
    with _watching(server, min(5.0, arguments.seconds)) as idle:
        pass
    with _watching(server, arguments.seconds) as busy:
        until = time.monotonic() + arguments.seconds
        tally = _crowd(server, arguments.clients, lambda caller: caller.run(until, KINDS))
    report.add("together", tally)
    report.note("health_idle_ms", milliseconds(idle))
    report.note("health_busy_ms", milliseconds(busy))
    report.must(max(busy) < float("inf"), "/health always answers 200")
    report.should(percentile(busy, 99) < HEALTH_LIMIT_S, "/health under 50 ms at p99")
    report.must(
        tally.generated > 0 and tally.answered["search"] > 0, "searches and answers both come through"
    )


@contextmanager
def _watching(server: Server, seconds: float) -> Iterator[list[float]]:
    """Seconds of every ``/health`` asked meanwhile, there once the block has ended."""
    command = [sys.executable, str(HERE / "load_clients.py"), "--probe", str(server.port), str(seconds)]
    watch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    times: list[float] = []
    yield times
    times += json.loads(watch.communicate(timeout=seconds + 60)[0])


def _memory(server: Server, arguments: argparse.Namespace, report: Report) -> None:
    """Answers until there are enough; memory after the first fifth against memory at the end."""
    wanted = max(10, arguments.answers)
    tally = Tally()
    marks: list[float] = []
    until = time.monotonic() + LONGEST_S
    for share in (wanted // 5, wanted - wanted // 5):
        goal = tally.generated + share
        while tally.generated < goal and time.monotonic() < until:
            each = max(1, min(25, (goal - tally.generated) // 4))
            tally.add(_crowd(server, 4, partial(_answers, count=each)))
        marks.append(server.resident_mb())
    report.add("memory", tally)
    growth = marks[1] / marks[0] - 1
    found = {
        "answers": tally.generated,
        "after_a_fifth": round(marks[0], 1),
        "at_the_end": round(marks[1], 1),
    }
    report.note("memory_mb", found | {"growth_percent": round(growth * 100, 2)})
    report.must(growth < GROWTH_LIMIT or wanted < ENOUGH_ANSWERS, "memory stays flat")


def _answers(caller: Caller, count: int) -> None:
    for turn in range(count):
        caller.once(ANSWERS[turn % len(ANSWERS)])


def _leavers(server: Server, arguments: argparse.Namespace, alone: float, report: Report) -> None:
    """Clients that go away at the first word; then the next one."""
    watcher = Caller(server.port, -2)
    idle: list[float] = []
    waves = max(1, arguments.leavers // 5)
    for wave in range(waves):
        _crowd(server, 5, Caller.go_at_the_first_word, first=1000 + 5 * wave)
        left = time.perf_counter()
        _until(lambda: _is_idle(watcher), 30)
        idle.append(time.perf_counter() - left)
    before = sum(watcher.tally.answered.values())
    watcher.once("ask")
    report.add("leavers", watcher.tally)
    served = sum(watcher.tally.answered.values()) > before
    took = watcher.tally.seconds.get("ask", [float("inf")])[-1]
    watcher.leave()
    found = {
        "left": waves * 5,
        "idle_after_ms_median": round(statistics.median(idle) * 1000, 1),
        "idle_after_ms_max": round(max(idle) * 1000, 1),
        "next_s": round(took, 3),
    }
    report.note("leavers", found)
    report.must(served, "the next client is served")
    report.should(took < 2 * alone + 0.2, "the next client is served at normal speed")
    report.should(
        statistics.median(idle) < CANCEL_LIMIT_S, "a client that leaves frees the model within 200 ms"
    )


def _is_idle(watcher: Caller) -> bool:
    generator = watcher.status()["generator"]
    return not generator["running"] and generator["waiting"] == 0


def _broken(server: Server, report: Report) -> None:
    """The engine fails: the question is answered from the sources, the next one by a fresh engine."""
    caller = Caller(server.port, -3)
    before = caller.status()["generator"]["restarts"]
    reply = caller.asked(f"Какой складской код: {object_name(7)}? {BREAK}")
    _until(lambda: caller.status()["generator"]["state"] == "ready", 120)
    restarts = caller.status()["generator"]["restarts"] - before
    caller.once("ask")
    report.add("broken", caller.tally)
    report.note("engine_failure", {"model_of_the_reply": reply["model"], "restarts": restarts})
    report.must(reply["model"] == "extractive", "a failed engine costs the prose, not the answer")
    report.must(restarts == 1, "/status tells of the restart")
    report.must(caller.tally.answered["ask"] == 1, "the next question is answered after the restart")
    caller.leave()


def _crowd(server: Server, count: int, work: Callable[[Caller], object], first: int = 1) -> Tally:
    callers = [Caller(server.port, first + n) for n in range(count)]
    threads = [threading.Thread(target=work, args=(caller,)) for caller in callers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally = Tally()
    for caller in callers:
        tally.add(caller.tally)
        caller.leave()
    return tally


def _until(condition: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("the server did not come to rest")
        time.sleep(0.01)


if __name__ == "__main__":
    sys.exit(main())
