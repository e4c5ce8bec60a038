"""Which chunks may be ranked at all, decided before ranking.

A filter that runs after the top-k can leave nothing of what it asks for. Here it becomes one array
of row numbers that dense and keyword search both obey.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline.index import Index
from pipeline.latest import Latest
from pipeline.text.conditions import Wanted, has_conditions, labels_of
from pipeline.text.document_dates import document_day
from pipeline.types import Document, Filter

__all__ = ["Rows", "matching_rows"]

Rows = NDArray[np.intp]
"""Row numbers of an index, ascending."""


def matching_rows(index: Index, wanted: Filter | None) -> Rows | None:
    """Rows of the chunks that meet a filter; None stands for all of them.

    Labels are compared without regard to letter case, a path prefix as written (with either slash),
    metadata by value, and dates by day; see `pipeline.text.conditions`.
    """
    if wanted is None or not has_conditions(wanted):
        return None
    groups = _latest.of(index)
    asked = Wanted.of(wanted)
    days = groups.days if asked.dated else ("",) * len(groups.kinds)
    suits = [
        asked.suits_labels(labels) and asked.suits_day(day) and asked.suits_document(document)
        for (document, labels), day in zip(groups.kinds, days, strict=True)
    ]
    return np.flatnonzero(np.array(suits, dtype=np.bool_)[groups.numbers])


@dataclass(frozen=True)
class _Groups:
    """Chunks that every filter treats alike.

    Attributes:
        kinds: The document of each group, without its text, and the labels of its chunks.
        numbers: int32, shape (chunks,): the group of each chunk.
    """

    kinds: tuple[tuple[Document, frozenset[str]], ...]
    numbers: NDArray[np.int32]

    @cached_property
    def days(self) -> tuple[str, ...]:
        """The day of each group; few filters ask for one."""
        return tuple(document_day(document) for document, _ in self.kinds)


def _groups(index: Index) -> _Groups:
    numbers = np.empty(len(index.chunks), dtype=np.int32)
    found: dict[tuple[str, tuple[str, ...]], int] = {}
    for row, chunk in enumerate(index.chunks):
        numbers[row] = found.setdefault((chunk.document_id, chunk.tags), len(found))
    heads = {document.id: replace(document, text="", blocks=()) for document in index.documents.values()}
    return _Groups(tuple((heads[name], labels_of(tags, heads[name])) for name, tags in found), numbers)


_latest = Latest(_groups)
"""To make groups every chunk has to be looked at once."""
