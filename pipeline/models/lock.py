"""One process at a time works on a model; the others wait and then find it done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.models.layout import staging_folder

__all__ = ["model_lock"]


@contextmanager
def model_lock(models: Path, name: str, waiting: Callable[[], object]) -> Iterator[None]:
    """Hold the lock of a model; the system frees it even when the process is killed.

    Args:
        models: The models folder.
        name: Which model.
        waiting: Called once if another process holds the lock.
    """
    from filelock import FileLock, Timeout

    staging = staging_folder(models, name)
    staging.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(staging.with_name(name + ".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        waiting()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
