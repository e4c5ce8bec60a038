"""Which reader takes which file, by the end of its name in any letter case."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType

from pipeline.ingest.readers.csv import read_csv
from pipeline.ingest.readers.docx import read_docx
from pipeline.ingest.readers.html import read_html
from pipeline.ingest.readers.json import read_json
from pipeline.ingest.readers.md import read_markdown
from pipeline.ingest.readers.pdf import read_pdf
from pipeline.ingest.readers.sqlite import read_sqlite
from pipeline.ingest.readers.txt import read_txt
from pipeline.ingest.readers.xlsx import read_xlsx
from pipeline.ports import Reader

__all__ = ["READERS", "reader_for"]

READERS: Mapping[str, Reader] = MappingProxyType(
    {
        ".csv": read_csv,
        ".db": read_sqlite,
        ".docx": read_docx,
        ".htm": read_html,
        ".html": read_html,
        ".json": read_json,
        ".markdown": read_markdown,
        ".md": read_markdown,
        ".pdf": read_pdf,
        ".sqlite": read_sqlite,
        ".tsv": read_csv,
        ".txt": read_txt,
        ".xlsx": read_xlsx,
    }
)


def reader_for(name: str) -> Reader | None:
    """The reader of a file name, or None if the format is not supported."""
    return READERS.get(PurePath(name.strip()).suffix.lower())
