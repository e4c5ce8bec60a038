"""Where a fetched file came from: a hidden list that `pipeline.ingest.sources.fetch` keeps beside it."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline.ingest.readers.common import web_link

__all__ = ["ORIGINS", "origin_of", "read_origins"]

ORIGINS = ".origins.json"


def origin_of(path: Path) -> str | None:
    """The address a file was fetched from, or None for a file of the user's own."""
    return web_link(read_origins(path.parent).get(path.name, ("", ""))[0])


def read_origins(folder: Path) -> dict[str, tuple[str, str]]:
    """File name -> (address, SHA-256 as fetched); empty where nothing was fetched or the list is damaged.

    A damaged list loses links of citations only, so it is no error.
    """
    try:
        listed = json.loads((folder / ORIGINS).read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(listed, dict):
        return {}
    return {
        name: (entry["url"], entry["sha256"])
        for name, entry in listed.items()
        if isinstance(entry, dict)
        and isinstance(entry.get("url"), str)
        and isinstance(entry.get("sha256"), str)
    }
