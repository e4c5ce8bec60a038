"""Files that are written whole or not at all, and told apart by what is in them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

__all__ = ["put_in_place", "sha256_of", "write_durably"]


def write_durably(path: Path, data: bytes) -> None:
    """Write a file and wait until it is on the disk."""
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def put_in_place(path: Path, data: bytes) -> None:
    """Replace a file by one that is on the disk already: a power cut leaves the old or the new one, whole.

    The draft beside it has a hidden name of this process, so indexing passes it over.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        write_durably(draft, data)
        draft.replace(path)
    except BaseException:  # Ctrl-C, too, must leave no draft behind
        draft.unlink(missing_ok=True)
        raise


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
