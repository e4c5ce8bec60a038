"""The files of an index, to be compared byte by byte."""

from __future__ import annotations

from pathlib import Path

__all__ = ["index_files"]


def index_files(folder: Path) -> dict[str, bytes]:
    """What equal builds have in common: everything but the record of when it was written."""
    (cache,) = (folder / "cache").iterdir()
    files = [*folder.glob("*.json"), *cache.glob("*.npy"), cache / "terms.json"]
    return {path.name: path.read_bytes() for path in files}
