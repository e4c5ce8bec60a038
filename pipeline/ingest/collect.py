"""The documents of a knowledge base; what an earlier index holds of unchanged files is not read again."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pipeline.errors import OtvetError, UnreadableFileError
from pipeline.index import Manifest
from pipeline.ingest.fingerprints import READERS_VERSION, Fingerprint, Fingerprints
from pipeline.ingest.holdings import owner
from pipeline.ingest.readers.registry import reader_for
from pipeline.ingest.reasons import cause_of, reason, restored, stored
from pipeline.ingest.scan import Found, scan
from pipeline.messages import Phrase
from pipeline.ports import Reader
from pipeline.types import Document

__all__ = ["Collection", "KnownFiles", "collect", "find_reader", "read_file"]

logger = logging.getLogger(__name__)

_TRIED_AGAIN = ("unopened", "too_large", "reader", "no_memory")
"""Reasons that the bytes do not decide, or that cost nothing to find again."""
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+")
_DETAIL = 200  # characters of a library's own words


@dataclass(slots=True)
class Collection:
    """The readable documents of a knowledge base.

    Attributes:
        found: Files found; each is in ``files`` or in ``skipped``.
        files: File -> SHA-256 of its bytes, for every file that gave a document.
        skipped: File -> why it gives no document.
        unread: Skipped file -> SHA-256, where the same bytes would be skipped again.
        beside: Files that readers looked at besides -> SHA-256.
        read: Files that had to be read now.
    """

    documents: list[Document] = field(default_factory=list)
    found: int = 0
    files: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, Phrase] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)
    read: int = 0


class KnownFiles:
    """What an earlier index says of the files of its knowledge base.

    Args:
        manifest: Of that index.
        documents: All its documents, or none where only the state of files is asked for.
    """

    def __init__(self, manifest: Manifest, documents: Iterable[Document] = ()) -> None:
        self.manifest = manifest
        self._documents: dict[str, list[Document]] = {}
        for document in documents:
            self._documents.setdefault(owner(document.file, manifest.files), []).append(document)

    def documents(self, file: str) -> list[Document]:
        """The documents of a file, in reading order."""
        return self._documents.get(file, [])

    def is_unchanged(self, file: str, mark: Fingerprint) -> bool:
        """True if reading the file again would give the same documents."""
        return self.manifest.files.get(file) == mark.sha256 and self._fits(mark)

    def skip_reason(self, file: str, mark: Fingerprint) -> Phrase | None:
        """Why the same bytes were skipped before, or None if they were not."""
        if self.manifest.unread.get(file) == mark.sha256 and self._fits(mark):
            return restored(self.manifest.skipped.get(file, "no_text"))
        return None

    def _fits(self, mark: Fingerprint) -> bool:
        if self.manifest.readers != READERS_VERSION:
            return False
        return all(self.manifest.beside.get(name) == digest for name, digest in mark.beside.items())


def collect(knowledge_base: Path, known: KnownFiles | None = None) -> Collection:
    """Read the files of a knowledge base, but for those whose documents are known."""
    made = Collection()
    prints = Fingerprints(knowledge_base)
    for item in scan(knowledge_base):
        made.found += 1
        try:
            _add(made, item, prints, known)
        except UnreadableFileError as error:
            made.skipped[item.file] = cause_of(error)
    return made


def find_reader(item: Found) -> Reader:
    """The reader of a file.

    Raises:
        UnreadableFileError: There is none, or the file is not to be read at all.
    """
    if item.skip is not None:
        raise UnreadableFileError(file=item.file, reason=item.skip)
    reader = reader_for(item.file)
    if reader is None:
        suffix = PurePosixPath(item.file).suffix or item.file
        raise UnreadableFileError(file=item.file, reason=reason("unsupported", suffix))
    return reader


def read_file(item: Found, reader: Reader) -> list[Document]:
    """What the reader makes of a file.

    Raises:
        UnreadableFileError: It cannot be read. Whatever a library raises over a file that its authors
            did not think of is such a reason too: one file must not stop the run (case 4).
        OtvetError: As from the reader: not the file is at fault.
    """
    try:
        return reader(item.path, item.file)
    except OtvetError:
        raise
    except MemoryError as error:
        # What the reader held is free again, so the next file can be read.
        raise UnreadableFileError(file=item.file, reason=reason("no_memory")) from error
    except Exception as error:
        logger.warning("%s: the reader failed", item.file, exc_info=True)
        raise UnreadableFileError(file=item.file, reason=reason("reader", _detail(error, item))) from error


def _detail(error: Exception, item: Found) -> str:
    """A library's own words, the same in every run: without places in memory and on this disk."""
    words = f"{type(error).__name__}: {error}".replace(str(item.path), item.file)
    return " ".join(_ADDRESS.sub("0x…", words).split())[:_DETAIL]


def _add(made: Collection, item: Found, prints: Fingerprints, known: KnownFiles | None) -> None:
    reader = find_reader(item)
    # Hashed before it is read: a file that changes in between is then seen as changed by the next run.
    mark = prints.of(item)
    made.beside |= {name: digest for name, digest in mark.beside.items() if digest is not None}
    try:
        made.documents += _documents(made, item, reader, mark, known)
    except UnreadableFileError as error:
        if stored(cause_of(error)).partition(":")[0] not in _TRIED_AGAIN:
            made.unread[item.file] = mark.sha256
        raise
    made.files[item.file] = mark.sha256


def _documents(
    made: Collection, item: Found, reader: Reader, mark: Fingerprint, known: KnownFiles | None
) -> list[Document]:
    if known is not None:
        if known.is_unchanged(item.file, mark) and (documents := known.documents(item.file)):
            return documents
        why = known.skip_reason(item.file, mark)
        if why is not None:
            raise UnreadableFileError(file=item.file, reason=why)
    made.read += 1
    return read_file(item, reader)
