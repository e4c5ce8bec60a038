"""One indexer at a time: a lock of the operating system on ``embeddings/index.lock``.

The system drops the lock when its process dies, so a crash never leaves a stale one. The file
stays; only the lock on it counts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import IndexLockedError
from pipeline.stores.faults import writing

__all__ = ["index_lock"]

_NAME = "index.lock"
_LOCKED_BYTE = 1 << 20  # beyond the process number, which others must be able to read on Windows


@contextmanager
def index_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of an index folder, which is made if it doesn't exist.

    Raises:
        IndexLockedError: Another process, or another thread of this one, holds it.
        IndexNotWrittenError: The folder cannot be written to.
    """
    path = folder / _NAME
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _try_lock(descriptor):
            raise IndexLockedError(path=path, pid=_holder(descriptor))
        with writing(path):
            _write_holder(descriptor)
        yield
    finally:
        os.close(descriptor)


def _write_holder(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, str(os.getpid()).encode())


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 32).decode("ascii", "replace") or "?"


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
