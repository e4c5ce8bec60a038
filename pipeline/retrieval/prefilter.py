"""Which chunks may be ranked at all, decided before ranking.

A filter that runs after the top-k can leave nothing of what it asks for. Here it becomes one array
of row numbers that dense and keyword search both obey.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.index import Index
from pipeline.types import Chunk, Document, Filter, Metadata

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
    types = {_label(name).removeprefix(".") for name in wanted.source_types}
    tags = {_label(tag) for tag in wanted.tags}
    prefix = wanted.path_prefix.replace("\\", "/").removeprefix("./")
    suits = {
        document.id: _document_suits(document, types, prefix, wanted.metadata)
        for document in index.documents.values()
    }
    rows = [
        row
        for row, chunk in enumerate(index.chunks)
        if suits.get(chunk.document_id, False)
        and (not tags or not tags.isdisjoint(_tags(chunk, index.documents[chunk.document_id])))
    ]
    return np.asarray(rows, dtype=np.intp)


def _document_suits(document: Document, types: set[str], prefix: str, metadata: Metadata) -> bool:
    return (
        (not types or _label(str(document.metadata.get("source_type", ""))) in types)
        and document.file.startswith(prefix)
        and all(
            key in document.metadata and _same(document.metadata[key], value)
            for key, value in metadata.items()
        )
    )


def _tags(chunk: Chunk, document: Document) -> set[str]:
    return {_label(tag) for tag in (*chunk.tags, *document.tags)}


def _label(text: str) -> str:
    return text.strip().casefold()


def _same(found: str | float | bool, wanted: str | float | bool) -> bool:
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    # A form may send a number as text, and a file may hold it as text.
    return found == wanted or str(found) == str(wanted)
