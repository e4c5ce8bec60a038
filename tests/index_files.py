"""The files of an index, to be compared byte by byte."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["index_files"]


def index_files(folder: Path) -> dict[str, bytes]:
    """What equal builds have in common: everything but the record of when it was written."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    # A run that could not end may have left copies of its own; the manifest says which ones count.
    cache = folder / "cache" / f"{manifest['build_id']}-{manifest['checksums']['embeddings.json'][:8]}"
    files = [*folder.glob("*.json"), *cache.glob("*.npy"), cache / "terms.json"]
    return {path.name: path.read_bytes() for path in files}
