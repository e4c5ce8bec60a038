"""Which version of each indexer's share is the current one, and whose turn it is to write.

A reader takes the heads of all indexers in one read; with them it sees the same points to the end of its
request. An indexer writes under a lease of its own head, asked for, renewed and given back by conditional
updates, which a server carries out one after another. Turning the head to the new version is the last of
them: one update of one point, so no reader ever meets half of a version.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pipeline.errors import StoreNotWrittenError, StoreUnreachableError
from pipeline.messages import Phrase
from pipeline.stores.qdrant.connection import Connection, MissingCollectionError, RefusedError
from pipeline.stores.qdrant.layout import Layout, content_of, point_id

if TYPE_CHECKING:
    from qdrant_client import models

__all__ = ["Head", "Heads", "Turn"]

_LEASE_S = 120
_FOREVER = 1e12
_RUN = secrets.token_hex(4)
_MOST_SOURCES = 1000


@dataclass(frozen=True, slots=True)
class Head:
    """The current version of one indexer's share.

    Attributes:
        source: Who wrote it.
        generation: Its number; 0 where nothing has been written yet.
        last: The highest number ever begun.
        collection: Where its points are.
        blobs: Name -> ids of the points that hold it, in order.
        chunks: How many chunks it has.
        terms: Terms of all of them together.
        mean: Terms of a chunk that its sparse vectors were made with.
        dimension: Of its vectors.
        digest: Equal for versions that say the same.
        earlier: Versions before it: number and until when they were current, in seconds of Unix time.
        left: Collections that it has left for that of another embedder, and when.
    """

    source: str
    generation: int = 0
    last: int = 0
    collection: str = ""
    blobs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    chunks: int = 0
    terms: int = 0
    mean: float = 0.0
    dimension: int = 0
    digest: str = ""
    earlier: tuple[tuple[int, float], ...] = ()
    left: tuple[tuple[str, float], ...] = ()

    def record(self) -> dict[str, Any]:
        """As payload, but for what belongs to the lease."""
        return {
            "generation": self.generation,
            "collection": self.collection,
            "blobs": {name: list(ids) for name, ids in self.blobs.items()},
            "chunks": self.chunks,
            "terms": self.terms,
            "mean": self.mean,
            "dimension": self.dimension,
            "digest": self.digest,
            "earlier": [list(one) for one in self.earlier],
            "left": [list(one) for one in self.left],
        }

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> Head:
        """From payload."""
        return cls(
            source=payload["source"],
            generation=payload["generation"],
            last=payload["last"],
            collection=payload["collection"],
            blobs=payload["blobs"],
            chunks=payload["chunks"],
            terms=payload["terms"],
            mean=payload["mean"],
            dimension=payload["dimension"],
            digest=payload["digest"],
            earlier=tuple((int(number), float(until)) for number, until in payload["earlier"]),
            left=tuple((str(name), float(since)) for name, since in payload["left"]),
        )


@dataclass(frozen=True, slots=True)
class Turn:
    """Leave to write.

    Attributes:
        head: As it was when the turn began.
        generation: The number of the version to be written.
        renew: To be called before every step; raises where the turn has been lost.
        finish: Makes a head the current one, and ends the turn.
    """

    head: Head
    generation: int
    renew: Callable[[], None]
    finish: Callable[[Head], None]


class Heads:
    """The heads of a base.

    Args:
        connection: Of the server or folder.
        layout: Names the collection.
    """

    def __init__(self, connection: Connection, layout: Layout) -> None:
        self._connection = connection
        self._layout = layout

    def current(self) -> tuple[Head, ...]:
        """The heads of all that have written something, by name."""
        try:
            points, _ = self._connection.call(
                "scroll", collection_name=self._layout.heads, limit=_MOST_SOURCES, with_payload=True
            )
        except MissingCollectionError:
            return ()
        heads = [Head.of(point.payload) for point in points]
        return tuple(sorted((head for head in heads if head.generation), key=lambda head: head.source))

    @contextmanager
    def turn(self, source: str) -> Iterator[Turn]:
        """Write under the lease of a source.

        Raises:
            StoreNotWrittenError: Another indexer of this name is at work, or has taken over.
        """
        one = point_id(content_of(b"head", source.encode()), 0)
        token = f"{_RUN}-{secrets.token_hex(8)}"
        self._begin(one, source)
        if self._connection.local and not self._payload(one)["lease"].startswith(_RUN):
            # A folder has one process at a time: the lease of another one is that of a dead one.
            self._update(one, {"until": 0.0}, _range("until", lt=_FOREVER))
        self._update(one, {"lease": token, "until": time.time() + _LEASE_S}, _range("until", lt=time.time()))
        payload = self._payload(one)
        if payload["lease"] != token:
            raise _taken(source)
        head = Head.of(payload)
        generation = max(head.generation, head.last) + 1
        mine = _match("lease", token)
        renewed = time.monotonic()

        def renew() -> None:
            nonlocal renewed
            if time.monotonic() - renewed < _LEASE_S / 10:
                return
            self._update(one, {"until": time.time() + _LEASE_S}, mine)
            if self._payload(one)["lease"] != token:
                raise _taken(source)
            renewed = time.monotonic()

        def finish(new: Head) -> None:
            self._update(one, new.record() | {"last": generation}, mine)
            if self._payload(one)["generation"] != new.generation:
                raise _taken(source)

        try:
            self._update(one, {"last": generation}, mine)
            yield Turn(head, generation, renew, finish)
        except BaseException as error:
            if isinstance(error, RefusedError) or not isinstance(error, StoreUnreachableError):
                with suppress(StoreUnreachableError):  # the first error counts, and a lease runs out
                    self._update(one, {"lease": "", "until": 0.0}, mine)
            raise
        self._update(one, {"lease": "", "until": 0.0}, mine)

    def _begin(self, one: str, source: str) -> None:
        """Make the head of a new source."""
        from qdrant_client import models

        self._layout.create_heads(self._connection)
        if self._connection.call("retrieve", collection_name=self._layout.heads, ids=[one]):
            return
        new = {"source": source, "last": 0, "lease": "", "until": 0.0}
        empty = Head(source)
        self._connection.call(
            "upsert",
            collection_name=self._layout.heads,
            points=[models.PointStruct(id=one, vector={}, payload=empty.record() | new)],
            update_mode=models.UpdateMode.INSERT_ONLY,
            ordering=models.WriteOrdering.STRONG,
        )

    def _payload(self, one: str) -> dict[str, Any]:
        from qdrant_client import models

        found = self._connection.call(
            "retrieve",
            collection_name=self._layout.heads,
            ids=[one],
            consistency=models.ReadConsistencyType.MAJORITY,
        )
        return dict(found[0].payload)

    def _update(self, one: str, payload: Mapping[str, Any], condition: models.FieldCondition) -> None:
        """Change a head where a condition holds."""
        from qdrant_client import models

        self._connection.call(
            "set_payload",
            collection_name=self._layout.heads,
            payload=dict(payload),
            points=models.Filter(must=[models.HasIdCondition(has_id=[one]), condition]),
            ordering=models.WriteOrdering.STRONG,
        )


def _taken(source: str) -> StoreNotWrittenError:
    return StoreNotWrittenError(store="qdrant", reason=Phrase("store_being_written", {"source": source}))


def _match(key: str, value: str) -> models.FieldCondition:
    from qdrant_client import models

    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _range(key: str, *, lt: float) -> models.FieldCondition:
    from qdrant_client import models

    return models.FieldCondition(key=key, range=models.Range(lt=lt))
