"""Which chunks may be ranked at all, decided before ranking.

A filter that runs after the top-k can leave nothing of what it asks for. Here it becomes one array
of row numbers that dense and keyword search both obey.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pipeline.index import Index
from pipeline.types import Conditions, Document, Filter

__all__ = ["Rows", "matching_rows"]

Rows = NDArray[np.intp]
"""Row numbers of an index, ascending."""


def matching_rows(index: Index, wanted: Filter | None) -> Rows | None:
    """Rows of the chunks that meet a filter; None stands for all of them.

    Labels are compared without regard to letter case, a path prefix as written (with either slash),
    and metadata by value, where ``2024`` and ``"2024"`` are the same.
    """
    if wanted is None or wanted == Filter():
        return None
    groups = _groups_of(index)
    types = {_label(name).removeprefix(".") for name in wanted.source_types}
    tags = {_label(tag) for tag in wanted.tags}
    prefix = wanted.path_prefix.replace("\\", "/").removeprefix("./")
    suits = [
        (not tags or not tags.isdisjoint(labels))
        and _document_suits(document, types, prefix, wanted.metadata)
        for document, labels in groups.kinds
    ]
    return np.flatnonzero(np.array(suits, dtype=np.bool_)[groups.numbers])


@dataclass(frozen=True, slots=True)
class _Groups:
    """Chunks that every filter treats alike.

    Attributes:
        kinds: The document of each group, without its text, and the labels of its chunks.
        numbers: int32, shape (chunks,): the group of each chunk.
    """

    kinds: tuple[tuple[Document, frozenset[str]], ...]
    numbers: NDArray[np.int32]


def _groups(index: Index) -> _Groups:
    numbers = np.empty(len(index.chunks), dtype=np.int32)
    found: dict[tuple[str, tuple[str, ...]], int] = {}
    for row, chunk in enumerate(index.chunks):
        numbers[row] = found.setdefault((chunk.document_id, chunk.tags), len(found))
    heads = {document.id: replace(document, text="", blocks=()) for document in index.documents.values()}
    kinds = tuple((heads[name], frozenset(map(_label, (*tags, *heads[name].tags)))) for name, tags in found)
    return _Groups(kinds, numbers)


class _Latest:
    """The groups of the index asked about last: to make them every chunk has to be looked at once."""

    def __init__(self) -> None:
        self.entry: tuple[Index, _Groups] | None = None


_latest = _Latest()


def _groups_of(index: Index) -> _Groups:
    entry = _latest.entry
    if entry is None or entry[0] is not index:
        entry = _latest.entry = (index, _groups(index))
    return entry[1]


def _document_suits(document: Document, types: set[str], prefix: str, metadata: Conditions) -> bool:
    return (
        (not types or _label(str(document.metadata.get("source_type", ""))) in types)
        and document.file.startswith(prefix)
        and all(
            key in document.metadata and _meets(document.metadata[key], value)
            for key, value in metadata.items()
        )
    )


def _label(text: str) -> str:
    return text.strip().casefold()


def _meets(found: str | float | bool, wanted: str | float | bool | tuple[str | float | bool, ...]) -> bool:
    return any(_same(found, value) for value in (wanted if isinstance(wanted, tuple) else (wanted,)))


def _same(found: str | float | bool, wanted: str | float | bool) -> bool:
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    # A form may send a number as text, and a file may hold it as text.
    return found == wanted or str(found) == str(wanted)
