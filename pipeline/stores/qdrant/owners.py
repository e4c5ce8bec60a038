"""Which document each chunk of a version belongs to.

A document gets another id with every change of its text, while most of its chunks stay what they are. So
their points do not name it; a table that is kept with the version does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import orjson
from numpy.typing import NDArray

from pipeline.errors import IndexDamagedError
from pipeline.index import Index
from pipeline.messages import Phrase

__all__ = ["Owners", "owner_in", "owners_record"]


@dataclass(frozen=True, slots=True)
class Owners:
    """The table of one source.

    Attributes:
        ids: Ids of the chunks' points in 16 bytes each, sorted.
        places: int32, shape (chunks,): the place in ``documents`` of each of them.
        documents: Ids of documents.
    """

    ids: NDArray[np.void]
    places: NDArray[np.int32]
    documents: Sequence[str]

    @classmethod
    def of(cls, order: bytes, chunks: int, record: bytes) -> Owners:
        """From what is stored: the points' ids in order, of which the first are those of the chunks."""
        found = orjson.loads(record)
        ids = np.frombuffer(order[: 16 * chunks], dtype="V16")
        sorting = np.argsort(ids)
        return cls(ids[sorting], np.array(found["of"], dtype=np.int32)[sorting], found["documents"])

    def owner(self, point_id: str) -> str | None:
        """The id of the document of a chunk's point, if it is one of this source."""
        wanted = np.frombuffer(UUID(point_id).bytes, dtype="V16")
        place = int(np.searchsorted(self.ids, wanted)[0])
        if place == len(self.ids) or self.ids[place] != wanted[0]:
            return None
        return self.documents[int(self.places[place])]


def owner_in(tables: Sequence[Owners], point_id: str) -> str:
    """The id of the document of a chunk's point."""
    for table in tables:
        found = table.owner(point_id)
        if found is not None:
            return found
    raise IndexDamagedError(path="qdrant", reason=Phrase("store_point_gone"))


def owners_record(index: Index) -> bytes:
    """As it is stored."""
    documents: Mapping[str, int] = {document: place for place, document in enumerate(index.documents)}
    return orjson.dumps(
        {"documents": list(documents), "of": [documents[chunk.document_id] for chunk in index.chunks]}
    )
