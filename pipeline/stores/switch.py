"""Several files replaced as one: a crash at any point leaves all the old ones or all the new ones.

1. every file is written beside the old one as ``<name>.new`` and flushed to the disk;
2. a marker that names them is put in place with one rename: from here on the new files count;
3. each ``.new`` is renamed over its old file; 4. the marker is removed.

A reader that finds the marker finishes steps 3 and 4, or, where it may not write, reads the
``.new`` files in their place. Without a marker, ``.new`` files are leftovers and count for nothing.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import orjson

from pipeline.durable import write_durably
from pipeline.stores.faults import READ_ONLY

__all__ = ["MARKER", "commit", "current", "recover", "stage", "unstage"]

MARKER = "switch.json"
_ATTEMPTS = 20  # Windows refuses to replace a file while another process reads it


def stage(folder: Path, contents: Mapping[str, Iterable[bytes]]) -> dict[str, str]:
    """Step 1. Overwrites leftovers of an interrupted run.

    Args:
        folder: Where the files are.
        contents: File -> its content in pieces, which are not kept.

    Returns:
        File -> SHA-256 of its content.
    """
    sums = {name: _written(folder / f"{name}.new", pieces) for name, pieces in contents.items()}
    _flush_folder(folder)
    return sums


def unstage(folder: Path, names: Iterable[str]) -> None:
    """Take step 1 back; only where step 2 was not done."""
    for name in names:
        (folder / f"{name}.new").unlink(missing_ok=True)


def commit(folder: Path, names: Sequence[str]) -> None:
    """Steps 2 to 4 for staged files."""
    draft = folder / f"{MARKER}.new"
    write_durably(draft, orjson.dumps(list(names)))
    _replace(draft, folder / MARKER)
    _flush_folder(folder)
    _finish(folder, names)


def recover(folder: Path) -> None:
    """Finish a committed switch that was interrupted; where that is not allowed, change nothing."""
    names = _committed(folder)
    if names:
        try:
            _finish(folder, names)
        except OSError as error:
            if error.errno not in READ_ONLY:
                raise  # else `current` reads through the marker


def current(folder: Path, name: str) -> Path:
    """Where the current content of a file is."""
    staged = folder / f"{name}.new"
    return staged if name in _committed(folder) and staged.is_file() else folder / name


def _written(path: Path, pieces: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    with path.open("wb") as stream:
        for piece in pieces:
            stream.write(piece)
            digest.update(piece)
        stream.flush()
        os.fsync(stream.fileno())
    return digest.hexdigest()


def _committed(folder: Path) -> list[str]:
    try:
        names = orjson.loads((folder / MARKER).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return []  # no marker; a damaged one cannot come from here, and checksums tell what is current
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _finish(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        staged = folder / f"{name}.new"
        if staged.is_file():
            _replace(staged, folder / name)
    _flush_folder(folder)
    (folder / MARKER).unlink(missing_ok=True)
    _flush_folder(folder)


def _replace(source: Path, target: Path) -> None:
    for attempt in range(_ATTEMPTS):
        try:
            source.replace(target)
        except FileNotFoundError:
            return  # another process finished the same switch first
        except PermissionError:
            if os.name != "nt" or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(0.05)
        else:
            return


def _flush_folder(folder: Path) -> None:
    """Make renames durable; Windows has no such call and does it itself."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
