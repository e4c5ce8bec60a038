"""Which reader takes which file, by the end of its name in any letter case."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType

from pipeline.ingest.readers.json import read_json
from pipeline.ingest.readers.md import read_markdown
from pipeline.ingest.readers.txt import read_txt
from pipeline.ports import Reader

__all__ = ["READERS", "reader_for"]

READERS: Mapping[str, Reader] = MappingProxyType(
    {".txt": read_txt, ".md": read_markdown, ".markdown": read_markdown, ".json": read_json}
)


def reader_for(name: str) -> Reader | None:
    """The reader of a file name, or None if the format is not supported."""
    return READERS.get(PurePath(name.strip()).suffix.lower())
