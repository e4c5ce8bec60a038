"""Folders beside the JSON index that hold what is made from it: each belongs to one build, and says so.

``embeddings/beside/<kind>/<build>-<sum>/record.json`` is written last, so a folder without it, or with
another one, is unfinished or stale and is made again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import orjson
from filelock import FileLock

from pipeline.durable import put_in_place
from pipeline.errors import StoreNotWrittenError
from pipeline.stores.cache_record import checksum
from pipeline.stores.faults import FULL, READ_ONLY

__all__ = ["BESIDE", "Beside", "opened"]

BESIDE = "beside"
"""Folder in ``embeddings/``."""

_RECORD = "record.json"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Beside:
    """What a folder is made from and how.

    Attributes:
        embeddings: The folder of the JSON index.
        kind: As the setting ``store.kind`` calls it.
        build_id: Of the index.
        vectors: SHA-256 of its ``embeddings.json``.
        options: Whatever else decides what is made, versions of libraries included.
    """

    embeddings: Path
    kind: str
    build_id: str
    vectors: str
    options: Mapping[str, str | int]

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self.embeddings / BESIDE / self.kind / f"{self.build_id}-{self.vectors[:8]}"

    def exists(self) -> bool:
        """True if it has been made for this build, whatever the options were."""
        return (self.folder / _RECORD).is_file()


def opened(
    beside: Beside,
    make: Callable[[Path], None],
    read: Callable[[Path], _T],
    in_memory: Callable[[], _T],
    *,
    files: tuple[str, ...] = (),
) -> _T:
    """What a folder holds, made first where it is missing, stale or damaged.

    Several processes may ask at once: one makes it, the others wait for that.

    Args:
        beside: Which folder.
        make: Fills an empty folder.
        read: Opens a full one.
        in_memory: Does both where nothing can be written.
        files: Those whose checksum is kept, because reading them damaged would be worse than an error.

    Raises:
        StoreNotWrittenError: It can neither be written nor done without.
    """
    folder = beside.folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Nobody takes a folder away while another one opens it.
        with FileLock(folder.parent / "making.lock"):
            if not _is_whole(beside, files):
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(exist_ok=True)
                make(folder)
                put_in_place(folder / _RECORD, orjson.dumps(_record(beside, files)))
                _remove_others(folder)
            return read(folder)
    except OSError as error:
        if error.errno not in (*READ_ONLY, *FULL):
            raise StoreNotWrittenError(store=beside.kind, reason=error.strerror or str(error)) from error
        if _is_whole(beside, files):
            return read(folder)  # on a disk that is closed to writing
        shutil.rmtree(folder, ignore_errors=True)
        return in_memory()


def _record(beside: Beside, files: tuple[str, ...]) -> dict[str, object]:
    sums = {name: checksum(beside.folder / name) for name in files}
    return {
        "build_id": beside.build_id,
        "vectors": beside.vectors,
        "options": dict(beside.options),
        "files": sums,
    }


def _is_whole(beside: Beside, files: tuple[str, ...]) -> bool:
    try:
        record = orjson.loads((beside.folder / _RECORD).read_bytes())
        return bool(record == _record(beside, files))
    except (OSError, ValueError):
        return False


def _remove_others(folder: Path) -> None:
    """Remove what earlier builds left; one that another process has open may stay (Windows)."""
    for other in folder.parent.iterdir():
        if other.is_dir() and other != folder:
            shutil.rmtree(other, ignore_errors=True)
