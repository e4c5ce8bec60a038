"""What an index holds of each file, told from the index alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from pipeline.index import Index
from pipeline.ingest.notes import notes_of
from pipeline.ingest.reasons import restored
from pipeline.messages import Phrase

__all__ = ["FileState", "FileStatus", "holdings", "owner"]

FileState = Literal["indexed", "skipped", "new", "changed", "gone"]
"""``indexed`` and ``skipped`` files are as the index knows them; the others differ from it."""


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One file of a knowledge base.

    Attributes:
        reason: Why it gives no text, where that is known.
        chunks: How many of its passages are in the index.
        encoding: In which it was read, for a text.
        notes: What of it was left out.
    """

    file: str
    state: FileState
    reason: Phrase | None = None
    chunks: int = 0
    encoding: str | None = None
    notes: tuple[Phrase, ...] = ()


def holdings(index: Index) -> dict[str, FileStatus]:
    """File -> what the index holds of it, indexed ones and skipped ones, by name."""
    manifest = index.manifest
    chunks = Counter(owner(chunk.file, manifest.files) for chunk in index.chunks)
    encodings: dict[str, str] = {}
    notes: dict[str, list[Phrase]] = {}
    for document in index.documents.values():
        file = owner(document.file, manifest.files)
        notes.setdefault(file, []).extend(notes_of(document))
        if document.metadata.get("source_type") != "sqlite" and "encoding" in document.metadata:
            encodings[file] = str(document.metadata["encoding"])
    found = {
        file: FileStatus(file, "indexed", None, chunks[file], encodings.get(file), tuple(notes.get(file, ())))
        for file in manifest.files
    }
    found |= {file: FileStatus(file, "skipped", restored(why)) for file, why in manifest.skipped.items()}
    return dict(sorted(found.items()))


def owner(file: str, files: Mapping[str, str]) -> str:
    """The one of ``files`` that a document comes from: rows of a database are named ``file/table/id``."""
    if file in files:
        return file
    parents = (parent.as_posix() for parent in PurePosixPath(file).parents)
    return next((parent for parent in parents if parent in files), file)
