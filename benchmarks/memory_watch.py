"""The highest memory of this process between two moments."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Self

__all__ = ["MemoryWatch", "memory_now"]

_STATUS = Path("/proc/self/status")
_LINES = {"VmRSS:": "resident_mb", "RssAnon:": "private_mb", "RssFile:": "mapped_mb"}


def memory_now() -> dict[str, float]:
    """Megabytes in memory: all, private, and of mapped files (Linux; elsewhere all and no parts)."""
    if not _STATUS.is_file():
        import psutil

        return {"resident_mb": psutil.Process().memory_info().rss / 1e6, "private_mb": 0.0, "mapped_mb": 0.0}
    found = dict.fromkeys(_LINES.values(), 0.0)
    for line in _STATUS.read_text().splitlines():
        key, _, rest = line.partition("\t")
        if key in _LINES:
            found[_LINES[key]] = int(rest.split()[0]) / 1024
    return found


class MemoryWatch:
    """Looks ten times a second; ``peaks`` holds the highest value of each."""

    def __init__(self) -> None:
        self.peaks = memory_now()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            self._look()

    def _look(self) -> None:
        for name, value in memory_now().items():
            self.peaks[name] = max(self.peaks[name], value)
