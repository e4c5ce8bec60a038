"""What decides what a reader makes of a file, as hashes: equal ones mean it need not be read again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pipeline.durable import sha256_of
from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.origin import ORIGINS
from pipeline.ingest.reasons import reason
from pipeline.ingest.scan import Found
from pipeline.ingest.sources.declared import SOURCES_FILE, encodings_named

__all__ = ["READERS_VERSION", "Fingerprint", "Fingerprints"]

READERS_VERSION = 1
"""To be raised when a reader makes another document of the same bytes."""

_PLAIN_TEXTS = (".txt", ".md", ".markdown", ".json")
_TEXTS_WITH_ORIGIN = (".html", ".htm", ".csv", ".tsv")
_ENCODINGS = f"{SOURCES_FILE} [encodings]"  # that part of it alone: the rest is nothing to a text
_DATABASES = (".sqlite", ".db")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A file as it lies there.

    Attributes:
        sha256: Of its bytes.
        beside: The other files its reader looks at -> SHA-256, or None for one that is not there.
    """

    sha256: str
    beside: Mapping[str, str | None]


class Fingerprints:
    """Hashes of the files of one knowledge base; a file that many share is read once.

    Args:
        knowledge_base: The folder; what lies beside a file is named inside it.
    """

    def __init__(self, knowledge_base: Path) -> None:
        self._root = knowledge_base
        self._shared: dict[str, str | None] = {}

    def of(self, item: Found) -> Fingerprint:
        """The fingerprint of a regular file.

        Raises:
            UnreadableFileError: It cannot be opened.
        """
        try:
            own = sha256_of(item.path)
        except OSError as error:
            why = reason("unopened", error.strerror or "?")
            raise UnreadableFileError(file=item.file, reason=why) from error
        return Fingerprint(own, {name: self._digest(name) for name in _beside(item.file)})

    def _digest(self, name: str) -> str | None:
        if name not in self._shared:
            try:
                is_part = name == _ENCODINGS
                self._shared[name] = _named_encodings(self._root) if is_part else sha256_of(self._root / name)
            except OSError:
                self._shared[name] = None  # not there; what it is needed for, the reader says
        return self._shared[name]


def _beside(file: str) -> tuple[str, ...]:
    """The other files that a reader of this one may look at."""
    path = PurePosixPath(file)
    suffix = PurePosixPath(file.strip()).suffix.lower()
    origins = (path.parent / ORIGINS).as_posix()
    if suffix in _DATABASES:
        return (SOURCES_FILE, f"{file}-wal")
    if suffix in _PLAIN_TEXTS:
        return (_ENCODINGS,)
    return (_ENCODINGS, origins) if suffix in _TEXTS_WITH_ORIGIN else (origins,)


def _named_encodings(root: Path) -> str | None:
    named = encodings_named(root)
    return hashlib.sha256(repr(list(named.items())).encode()).hexdigest() if named else None
