"""Parts of a base in Qdrant that are fetched when they are looked at: documents, and token vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from pipeline.errors import IndexDamagedError
from pipeline.messages import Phrase
from pipeline.stores.qdrant.token_bytes import TokenPlace
from pipeline.stores.token_store import GatheredTokens, QuantisedText, starts_of
from pipeline.types import Document

__all__ = ["LazyDocuments", "tokens_of"]

_TOKEN_BATCH = 24  # late interaction looks at 20 passages, unless told otherwise


class LazyDocuments(Mapping[str, Document]):
    """Documents that are fetched when they are looked at.

    Args:
        ids: Theirs.
        fetch: Document id -> document.
    """

    def __init__(self, ids: frozenset[str], fetch: Callable[[str], Document | None]) -> None:
        self._ids = ids
        self._fetch = fetch
        self._known: dict[str, Document] = {}

    def __getitem__(self, document_id: str) -> Document:
        if document_id not in self._ids:
            raise KeyError(document_id)
        if document_id not in self._known:
            found = self._fetch(document_id)
            if found is None:
                raise IndexDamagedError(path="qdrant", reason=Phrase("store_point_gone"))
            self._known[document_id] = found
        return self._known[document_id]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._ids))

    def __len__(self) -> int:
        return len(self._ids)


def tokens_of(
    place: TokenPlace, collection: str, points: Sequence[tuple[str, int]], dimension: int
) -> GatheredTokens:
    """Token vectors of points, fetched some at a time when they are looked at.

    Args:
        place: Where they are.
        collection: Of the points.
        points: Id and number of tokens of each row.
        dimension: Of the vectors.
    """
    known: dict[int, QuantisedText] = {}

    def fetch(row: int) -> QuantisedText:
        if row not in known:
            first = row - row % _TOKEN_BATCH
            some = range(first, min(first + _TOKEN_BATCH, len(points)))
            found = place.read(collection, [points[one][0] for one in some], dimension)
            if points[row][0] not in found:
                raise IndexDamagedError(path="qdrant", reason=Phrase("store_point_gone"))
            known.clear()
            known.update((one, found[points[one][0]]) for one in some if points[one][0] in found)
        return known[row]

    nothing = np.full(len(points), -1, dtype=np.int64)
    return GatheredTokens(starts_of([count for _, count in points]), fetch, known=None, known_rows=nothing)
