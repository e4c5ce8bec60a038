"""By what the points are coloured when it is not by cluster: file where there are few, else folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

__all__ = ["MOST_GROUPS", "colour_groups"]

MOST_GROUPS = 12
"""More colours than these nobody can tell apart."""


def colour_groups(files: Sequence[str]) -> list[str | None]:
    """The group of every passage: its file, or the deepest level of folders with at most 12 of them.

    Folders end with a slash; files beside them at the top make the folder ``/``. Where even the top
    level has more, the largest keep their name and the others are None.
    """
    names = sorted(set(files))
    if len(names) <= MOST_GROUPS:
        return list(files)
    depth = max(len(PurePosixPath(name).parts) for name in names) - 1
    for level in range(depth, 0, -1):
        groups = [_folder(name, level) for name in files]
        if len(set(groups)) <= MOST_GROUPS:
            return list(groups)
    top = [_folder(name, 1) for name in files] if depth else list(files)
    sizes = Counter(top)
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[: MOST_GROUPS - 1]
    return [name if name in largest else None for name in top]


def _folder(name: str, level: int) -> str:
    return "/".join(PurePosixPath(name).parts[:-1][:level]) + "/"
