"""One side of a benchmark as a process of its own: JSON lines in, JSON lines out.

Each side keeps its models in its own process, so that peak memory can be told apart and neither
side's libraries slow the other down. Only one side works at a time.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["Operation", "Side", "peak_megabytes", "serve"]

Operation = Callable[..., dict[str, Any]]

LONGEST_S = 900.0
"""Seconds that one operation may take."""


def peak_megabytes() -> float:
    """Highest resident memory of this process so far, in megabytes (Linux and macOS)."""
    # ru_maxrss of Linux starts with the peak of the process that started this one.
    found = _megabytes_of("VmHWM:")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found or peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _megabytes_of(key: str) -> float:
    """A line of this process's status; 0 where the system has no such thing."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.is_file() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(key)), 0.0)


def serve(operations: Mapping[str, Operation]) -> None:
    """Answer requests ``{"op": name, **arguments}`` from standard input until it closes."""
    # Libraries print to standard output; the protocol keeps the real one for itself.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    print(json.dumps({"ready": True}), file=channel, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        operation = operations[request.pop("op")]
        started, worked = time.perf_counter(), time.process_time()
        result = operation(**request)
        result.setdefault("seconds", time.perf_counter() - started)
        result["cpu_s"] = time.process_time() - worked
        result["peak_mb"] = round(peak_megabytes(), 1)
        result["private_mb"] = round(_megabytes_of("RssAnon:"), 1)
        result["mapped_mb"] = round(_megabytes_of("RssFile:"), 1)
        print(json.dumps(result, ensure_ascii=False), file=channel, flush=True)


class Side:
    """A running side, seen from the benchmark that drives it.

    Args:
        script: The side's script; it must call `serve`.
        arguments: Its command line.
    """

    def __init__(self, script: Path, arguments: list[str]) -> None:
        self.peak_mb = 0.0
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, str(script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._read()
        self.start_seconds = time.perf_counter() - self.started

    def call(self, op: str, **arguments: object) -> dict[str, Any]:
        """Run one operation; the answer holds at least ``seconds`` and ``peak_mb``.

        Raises:
            RuntimeError: The side ended before it answered; its traceback is on standard error.
        """
        assert self._process.stdin is not None
        print(json.dumps({"op": op, **arguments}), file=self._process.stdin, flush=True)
        answer = self._read()
        self.peak_mb = max(self.peak_mb, float(answer["peak_mb"]))
        return answer

    def seconds_alive(self) -> float:
        """Seconds since this process was started."""
        return time.perf_counter() - self.started

    def close(self) -> None:
        """End the process and free its memory."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        # A side that hangs is ended, so that the other stages still run.
        watch = threading.Timer(LONGEST_S, self._process.kill)
        watch.start()
        try:
            line = self._process.stdout.readline()
        finally:
            watch.cancel()
        if not line:
            raise RuntimeError(f"the process ended with code {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer
