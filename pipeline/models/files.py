"""Files that must be exactly right: hashing, checking, putting aside what is damaged."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from pipeline.messages import Phrase
from pipeline.ports import Progress

__all__ = [
    "BLOCK",
    "blocks",
    "difference",
    "flush_to_disk",
    "put_aside",
    "sha256_of",
    "wrong_hash",
    "wrong_size",
]

BLOCK = 1 << 20
"""Bytes read at a time; nothing larger is ever held in memory."""


def blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, ``BLOCK`` at a time."""
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            yield block


def sha256_of(path: Path, progress: Progress | None = None) -> str:
    """SHA-256 of a file in hexadecimal; ``progress`` is called with (bytes done, bytes in all)."""
    digest, done, total = hashlib.sha256(), 0, path.stat().st_size
    for block in blocks(path):
        digest.update(block)
        done += len(block)
        if progress is not None:
            progress(done, total)
    return digest.hexdigest()


def difference(
    path: Path, size: int | None, sha256: str | None, progress: Progress | None = None
) -> Phrase | None:
    """What is wrong with a file, None when nothing is.

    Unknown figures (None) are not checked; the size is looked at first because it costs nothing.
    """
    found = path.stat().st_size
    if size is not None and found != size:
        return wrong_size(found, size)
    if sha256 is not None and (digest := sha256_of(path, progress)) != sha256:
        return wrong_hash(digest, sha256)
    return None


def wrong_size(found: int, expected: int) -> Phrase:
    """The words for a file of another size."""
    return Phrase("model_file_size", {"found": found, "expected": expected})


def wrong_hash(found: str, expected: str) -> Phrase:
    """The words for a file of other contents; both hashes in hexadecimal."""
    return Phrase("model_file_hash", {"found": found, "expected": expected})


def put_aside(path: Path) -> Path:
    """Rename a damaged file, so that it stays for inspection and is never taken for a good one."""
    aside = path.with_name(path.name + ".damaged")
    path.replace(aside)
    return aside


def flush_to_disk(path: Path) -> None:
    """Make sure that a file survives a power cut before it gets its final name."""
    # Opened for writing because Windows refuses to flush a handle that only reads.
    with path.open("r+b") as stream:
        os.fsync(stream.fileno())
