"""Files of the knowledge base, in a fixed order, nothing outside of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pipeline.ingest.reasons import reason
from pipeline.ingest.sources.declared import SOURCES_FILE
from pipeline.messages import Phrase

__all__ = ["Found", "scan"]


@dataclass(frozen=True, slots=True)
class Found:
    """Something in the knowledge base.

    Attributes:
        file: Its name inside the knowledge base, with forward slashes.
        path: Where it is.
        skip: Why it cannot be read, or None for a regular file.
    """

    file: str
    path: Path
    skip: Phrase | None = None


def scan(knowledge_base: Path) -> list[Found]:
    """Everything that is not hidden, sorted by name; links are named, never followed (case 37).

    A folder that cannot be opened is one entry with its reason. A knowledge base that does not
    exist is an empty one.
    """
    root = knowledge_base.resolve()
    found: list[Found] = []

    def unopened(error: OSError) -> None:
        path = Path(error.filename)
        if path != root or path.exists():
            found.append(_found(root, path, reason("unopened", error.strerror or "?")))

    for folder, folders, files in os.walk(root, onerror=unopened):
        here = Path(folder)
        visible = [name for name in folders if not name.startswith(".")]
        links = [name for name in visible if _is_link(here / name)]
        found.extend(_found(root, here / name, _link_reason(root, here / name)) for name in links)
        folders[:] = [name for name in visible if name not in links]
        for name in (name for name in files if not name.startswith(".")):
            if here == root and name == SOURCES_FILE:
                continue  # says what to read, and is nothing to read itself
            found.append(_found(root, here / name, _file_reason(root, here / name)))
    return sorted(found, key=lambda item: item.file)


def _found(root: Path, path: Path, skip: Phrase | None) -> Found:
    file = path.relative_to(root).as_posix()
    try:
        file.encode()
    except UnicodeEncodeError:
        return Found(file.encode("utf-8", "replace").decode(), path, reason("name"))
    return Found(file, path, skip)


def _is_link(folder: Path) -> bool:
    # Windows has junctions too, which only show by leading elsewhere.
    return folder.is_symlink() or (os.name == "nt" and folder.resolve() != folder)


def _file_reason(root: Path, path: Path) -> Phrase | None:
    if path.is_symlink():
        return _link_reason(root, path)
    return None if path.is_file() else reason("not_regular")


def _link_reason(root: Path, path: Path) -> Phrase:
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: a loop, before Python 3.13
        return reason("link_broken")
    return reason("link_inside" if target.is_relative_to(root) else "link_outside")
