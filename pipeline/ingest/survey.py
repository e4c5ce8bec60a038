"""How the files of a knowledge base stand to an index: what it holds, what it lacks, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pipeline.errors import UnreadableFileError
from pipeline.index import Manifest
from pipeline.ingest.collect import KnownFiles, find_reader, read_file
from pipeline.ingest.fingerprints import Fingerprints
from pipeline.ingest.holdings import FileState, FileStatus
from pipeline.ingest.manifest import made_like
from pipeline.ingest.reasons import cause_of, stored
from pipeline.ingest.scan import Found, scan
from pipeline.ports import EmbedderSpec
from pipeline.settings import IndexSettings

__all__ = ["is_current", "survey"]


def survey(
    knowledge_base: Path, manifest: Manifest, held: Mapping[str, FileStatus] | None = None
) -> list[FileStatus]:
    """Every file that is in the knowledge base or in the index, by name.

    Files are hashed, not read, but for those that were skipped for a reason that may have gone.

    Args:
        knowledge_base: The folder.
        manifest: Of the index.
        held: What the index holds of each file (see `holdings`), to be told too.
    """
    known = KnownFiles(manifest)
    prints = Fingerprints(knowledge_base)
    found = {item.file: _status(item, prints, known) for item in scan(knowledge_base)}
    gone = (manifest.files.keys() | manifest.skipped.keys()) - found.keys()
    found |= {file: FileStatus(file, "gone") for file in gone}
    return [_with_content(found[file], (held or {}).get(file)) for file in sorted(found)]


def is_current(manifest: Manifest, knowledge_base: Path, spec: EmbedderSpec, settings: IndexSettings) -> bool:
    """True if building again would give an index with the same ``build_id``; no model is needed."""
    if made_like(manifest, spec, settings) != manifest:
        return False
    return all(status.state in ("indexed", "skipped") for status in survey(knowledge_base, manifest))


def _status(item: Found, prints: Fingerprints, known: KnownFiles) -> FileStatus:
    manifest = known.manifest
    try:
        reader = find_reader(item)
        mark = prints.of(item)
        if known.is_unchanged(item.file, mark):
            return FileStatus(item.file, "indexed")
        why = known.skip_reason(item.file, mark)
        if why is not None:
            return FileStatus(item.file, "skipped", why)
        if item.file in manifest.skipped and item.file not in manifest.unread:
            read_file(item, reader)
    except UnreadableFileError as error:
        why = cause_of(error)
        if manifest.skipped.get(item.file) == stored(why):
            return FileStatus(item.file, "skipped", why)
        return FileStatus(item.file, _differs(item.file, manifest), why)
    return FileStatus(item.file, _differs(item.file, manifest))


def _with_content(status: FileStatus, held: FileStatus | None) -> FileStatus:
    if held is None:
        return status
    return replace(status, chunks=held.chunks, encoding=held.encoding, notes=held.notes)


def _differs(file: str, manifest: Manifest) -> FileState:
    return "changed" if file in manifest.files or file in manifest.skipped else "new"
