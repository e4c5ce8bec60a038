"""A folder followed: after every change of its files something is done, one run at a time."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from pipeline.errors import OtvetError

__all__ = ["Patience", "folder_stamp", "follow"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait.

    Attributes:
        quiet_ms: A burst of changes ends when so long nothing has changed,
        burst_ms: or after so long.
        look_s: How often to look where the system reports nothing, as on network drives, and after
            a failed run.
    """

    quiet_ms: int = 400
    burst_ms: int = 5000
    look_s: float = 30.0


def follow(
    folder: Path,
    update: Callable[[], object],
    failed: Callable[[OtvetError], None],
    stop: Event,
    patience: Patience | None = None,
) -> None:
    """Call ``update`` now and after every change, until ``stop`` is set.

    Changes during a run lead to another one. After an error it goes on: the run is repeated with the
    next change, or at the next look.

    Args:
        folder: May be away for a while.
        update: Does the work.
        failed: Told an error that ``update`` raised, once while it stays the same.
        stop: Ends the watch.
        patience: How long to wait.
    """
    done: str | None = None
    told = ""
    for is_change in _wakes(folder, stop, patience or Patience()):
        seen = folder_stamp(folder)  # taken before: what changes meanwhile makes another one
        if seen == done and not is_change:
            continue
        try:
            update()
        except OtvetError as error:
            done = None
            if str(error) != told:
                failed(error)
            told = str(error)
        else:
            done, told = seen, ""


def folder_stamp(folder: Path) -> str:
    """Names, sizes and times of all files; cheap, and another one after nearly every change."""
    digest = hashlib.sha256()
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = Path(place) / name
            try:
                status = path.lstat()
            except OSError:
                continue  # it went away, and so does its line
            line = f"{path.relative_to(folder)}\0{status.st_size}\0{status.st_mtime_ns}\n"
            digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _wakes(folder: Path, stop: Event, patience: Patience) -> Iterator[bool]:
    """Yield True after a burst of changes, False when it is time to look."""
    while not stop.is_set():
        if folder.is_dir():
            for is_change in _events(folder, stop, patience):
                yield is_change
                if not folder.is_dir():
                    break  # its watch has ended with it, and another one begins when it is back
        else:
            yield False
            while not folder.is_dir() and not stop.wait(min(patience.look_s, 1.0)):
                pass


def _events(folder: Path, stop: Event, patience: Patience) -> Iterator[bool]:
    from watchfiles._rust_notify import RustNotify

    try:
        # It remembers changes from here on, so none is missed between two calls.
        with RustNotify([str(folder)], False, False, 0, True, True) as notifier:
            yield False  # what happened while nobody watched
            while True:
                timeout = int(patience.look_s * 1000)
                found = notifier.watch(patience.burst_ms, patience.quiet_ms, timeout, stop)
                if found == "signal":
                    raise KeyboardInterrupt
                if found == "stop":
                    return
                yield found != "timeout"
    except (OSError, RuntimeError) as error:
        # For example more folders than the system lets one watch: looking now and then does it too.
        logger.warning("%s: %s", folder, error)
        while folder.is_dir() and not stop.wait(patience.look_s):
            yield False
