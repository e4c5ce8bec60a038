"""Files put into the knowledge base, taken out of it, and brought back. Nothing is ever lost at once.

What is removed or replaced moves to a folder beside the knowledge base, on the same disk, so that a move is
one step of the file system and there is no moment at which a file is nowhere or half there.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from pipeline.errors import FileTakenError, NotFoundError, NotWrittenError
from pipeline.ingest.sources.declared import SOURCES_FILE
from pipeline.library.names import checked_name

__all__ = ["TRASH", "Put", "Removed", "Shelf"]

TRASH = "removed_files"
"""Folder beside the knowledge base."""

KEPT = 100
"""Removed files that are kept; of more, the oldest go for good."""

_ID = re.compile(r"[0-9]{14}-[0-9a-f]{8}")
_CONTENT, _LABEL = "content", "label.json"


@dataclass(frozen=True, slots=True)
class Put:
    """A file that was put in; ``replaced`` is the id under which its earlier version is kept."""

    file: str
    replaced: str | None


@dataclass(frozen=True, slots=True)
class Removed:
    """A file that can be brought back; ``removed_at`` is ISO 8601, UTC."""

    id: str
    file: str
    removed_at: str
    bytes: int


class Shelf:
    """The folder of documents. Thread-safe within this process.

    Args:
        knowledge_base: The folder; made when the first file is put in.
        trash: Where removed files are kept.
    """

    def __init__(self, knowledge_base: Path, trash: Path) -> None:
        self._root = knowledge_base
        self._trash = trash
        self._lock = Lock()

    def put(self, file: str, body: bytes, *, replace: bool = False) -> Put:
        """Put a file in, whole or not at all.

        Raises:
            FileNameError: Such a name cannot be given.
            FileTakenError: There is one of that name, and it is not to be replaced.
            NotWrittenError: The disk is full or closed to writing.
        """
        name = checked_name(file)
        with self._lock, _writing(self._root):
            path = self._place(name)
            taken = _same_name(path)
            # A link or a folder is never replaced: what a link leads to is not ours to keep.
            if taken is not None and not (replace and taken.name == path.name and _is_plain(taken)):
                raise FileTakenError(file=taken.relative_to(self._root.resolve()).as_posix())
            path.parent.mkdir(parents=True, exist_ok=True)
            # Hidden files are no documents, so an indexing run at this moment does not see it.
            written = path.with_name(f".{secrets.token_hex(8)}.part")
            try:
                written.write_bytes(body)
                replaced = self._lay_by(path, name, keep=True) if taken is not None else None
                written.replace(path)
            finally:
                written.unlink(missing_ok=True)
        return Put(name, replaced)

    def remove(self, file: str) -> str:
        """Take a file out; returns the id under which it is kept.

        Raises:
            NotFoundError: There is none.
            NotWrittenError: The disk is closed to writing.
        """
        with self._lock, _writing(self._root):
            path = self._existing(file)
            return self._lay_by(path, path.relative_to(self._root.resolve()).as_posix())

    def restore(self, removed_id: str) -> str:
        """Bring a removed file back; returns its name.

        Raises:
            NotFoundError: Nothing is kept under this id.
            FileTakenError: Meanwhile there is another of its name.
            NotWrittenError: The disk is closed to writing.
        """
        entry = self._trash / removed_id
        with self._lock, _writing(self._trash):
            label = _label(entry) if _ID.fullmatch(removed_id) else None
            if label is None:
                raise NotFoundError(what=removed_id[:100])
            # It was here before, whatever its name: one that could not be given anew comes back too.
            path = self._place(self._inside(label.file).relative_to(self._root.resolve()).as_posix())
            if (taken := _same_name(path)) is not None:
                raise FileTakenError(file=taken.relative_to(self._root.resolve()).as_posix())
            path.parent.mkdir(parents=True, exist_ok=True)
            (entry / _CONTENT).replace(path)
            shutil.rmtree(entry)
        return label.file

    def removed(self) -> list[Removed]:
        """What can be brought back, the latest first."""
        if not self._trash.is_dir():
            return []
        entries = sorted(
            (entry for entry in self._trash.iterdir() if _ID.fullmatch(entry.name)), reverse=True
        )
        return [label for label in map(_label, entries) if label is not None]

    def _place(self, name: str) -> Path:
        """Where a file of this name belongs; a link on the way is never followed."""
        root = self._root.resolve()
        path = root.joinpath(*name.split("/"))
        for folder in path.parents:
            if folder == root:
                return path
            if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
                raise FileTakenError(file=folder.relative_to(root).as_posix())
            if not folder.exists() and (other := _same_name(folder)) is not None:
                raise FileTakenError(file=other.relative_to(root).as_posix())
        raise NotFoundError(what=name)

    def _existing(self, file: str) -> Path:
        path = self._inside(file)
        try:
            found = path.resolve() == path and path.is_file()
        except OSError:  # a name too long for the file system
            found = False
        if not found:
            raise NotFoundError(what=file[:200])
        return path

    def _inside(self, file: str) -> Path:
        """Where a document of this name lies: nothing hidden, and not what says where to fetch from."""
        root = self._root.resolve()
        steps = file.split("/")
        if _can_be_a_name(file) and not any(step.startswith(".") for step in steps):
            path = root.joinpath(*steps)
            ours = path.parent == root and path.name.casefold() == SOURCES_FILE
            if ".." not in path.parts and path.is_relative_to(root) and not ours:
                return path
        raise NotFoundError(what=file[:200])

    def _lay_by(self, path: Path, name: str, *, keep: bool = False) -> str:
        now = time.gmtime()
        removed_id = f"{time.strftime('%Y%m%d%H%M%S', now)}-{secrets.token_hex(4)}"
        entry = self._trash / removed_id
        entry.mkdir(parents=True)
        label = {"file": name, "removed_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", now)}
        (entry / _LABEL).write_text(json.dumps(label, ensure_ascii=False), encoding="utf-8")
        if keep:  # the file stays in its place until the new one takes it
            shutil.copy2(path, entry / _CONTENT)
        else:
            path.replace(entry / _CONTENT)
        for old in self.removed()[KEPT:]:
            shutil.rmtree(self._trash / old.id)
        return removed_id


def _label(entry: Path) -> Removed | None:
    """What an entry of the trash holds; None for one that is not whole."""
    try:
        label = json.loads((entry / _LABEL).read_text(encoding="utf-8"))
        size = (entry / _CONTENT).stat().st_size
        return Removed(entry.name, str(label["file"]), str(label["removed_at"]), size)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _can_be_a_name(file: str) -> bool:
    """False for what no system takes as a path: a NUL, or half of a letter."""
    return "\0" not in file and not any("\ud800" <= letter <= "\udfff" for letter in file)


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _same_name(path: Path) -> Path | None:
    """What already has this name, in whatever letter case: Windows and macOS would take them for one."""
    if not path.parent.is_dir():
        return None
    folded = path.name.casefold()
    return next((other for other in path.parent.iterdir() if other.name.casefold() == folded), None)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotWrittenError(path=error.filename or path, reason=error.strerror or str(error)) from error
