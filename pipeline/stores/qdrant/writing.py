"""Bringing an indexer's share up to date: a new version beside the old one, then one turn of its head."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pipeline.errors import StoreNotWrittenError
from pipeline.index import Index
from pipeline.messages import Phrase
from pipeline.ports import Progress
from pipeline.snapshot import StoreReport
from pipeline.stores.qdrant import versions
from pipeline.stores.qdrant.connection import Connection, RefusedError
from pipeline.stores.qdrant.heads import Head, Heads, Turn
from pipeline.stores.qdrant.layout import LIVE, Layout, content_of, packed_ids, point_id, unpacked_ids
from pipeline.stores.qdrant.points import Share
from pipeline.stores.qdrant.terms import mean_in_force
from pipeline.stores.qdrant.token_bytes import TokenPlace

if TYPE_CHECKING:
    from qdrant_client import models

__all__ = ["GRACE_S", "Writer"]

GRACE_S = 900
"""How long a version is kept on a server after it was the current one: longer than any request takes."""

_CONTENT_BYTES = 12
_BATCH = 64  # with tokens some 6 MB of JSON; a server takes 32
_IDS = 4096


class Writer:
    """Writes the share of one source.

    Args:
        connection: Of the server or folder.
        layout: Names and shapes the collections.
        tokens: Where token vectors go.
        source: Whose share it is.
    """

    def __init__(self, connection: Connection, layout: Layout, tokens: TokenPlace, source: str) -> None:
        self._connection = connection
        self._layout = layout
        self._tokens = tokens
        self._source = source
        self._heads = Heads(connection, layout)

    def write(self, index: Index, progress: Progress | None) -> StoreReport:
        """Make the share hold this index.

        Raises:
            StoreNotWrittenError: Somebody else is writing it, other sources have another embedder, or the
                server refuses.
            StoreUnreachableError: The server does not answer; the old version is whole.
        """
        try:
            with self._heads.turn(self._source) as turn, self._unsettled():
                return self._write(index, turn, progress)
        except RefusedError as error:
            raise StoreNotWrittenError(store="qdrant", reason=error.values["reason"]) from error

    @contextmanager
    def _unsettled(self) -> Iterator[None]:
        """Let searches ask for versions while there are several."""
        settled = self._connection.settled
        if settled is None:
            yield
            return
        with self._connection.turns:
            settled.writers += 1
            settled.versions.clear()
        try:
            yield
        finally:
            with self._connection.turns:
                settled.writers -= 1

    def _write(self, index: Index, turn: Turn, progress: Progress | None) -> StoreReport:
        head, collection = turn.head, self._layout.points(index.manifest)
        others = [one for one in self._heads.current() if one.source != self._source]
        if any(one.collection != collection for one in others):
            raise StoreNotWrittenError(store="qdrant", reason=Phrase("store_mixed_embedders"))
        self._layout.create_points(self._connection, collection, index.manifest.dimension)
        self._clear(head, turn)
        before = self._before(head) if head.collection == collection else {}
        lengths = index.postings.lengths
        mean = mean_in_force(float(lengths.mean()) if len(lengths) else 0.0, head.mean if before else 0.0)
        share = Share(self._source, index, mean)
        wholes = share.wholes()
        contents = (*share.chunk_contents, *share.document_contents)
        digest = content_of(*contents, *wholes.values()).hex()
        if before and digest == head.digest:
            return StoreReport(added=0, removed=0, kept=head.chunks)
        fresh = [row for row, content in enumerate(share.chunk_contents) if content not in before]
        new_documents = [content for content in share.document_contents if content not in before]
        self._send(collection, share, turn, (fresh, new_documents), progress)
        order = [before.get(content) or point_id(content, turn.generation) for content in contents]
        blobs = self._send_wholes(collection, share, turn, {**wholes, "order": packed_ids(order)})
        if before:
            staying = set(order)
            gone = [one for one in before.values() if one not in staying]
            self._mark(collection, [*gone, *(one for ids in head.blobs.values() for one in ids)], turn)
        new = Head(
            source=self._source,
            generation=turn.generation,
            collection=collection,
            blobs=blobs,
            chunks=len(index.chunks),
            terms=int(lengths.sum()),
            mean=mean,
            dimension=index.manifest.dimension,
            digest=digest,
            **_history(head, collection, time.time()),
        )
        turn.renew()
        turn.finish(new)
        if self._connection.local:
            self._remove_outlived(new)
        stayed = len(index.chunks) - len(fresh)
        return StoreReport(added=len(fresh), removed=max(head.chunks - stayed, 0), kept=stayed)

    def _clear(self, head: Head, turn: Turn) -> None:
        """Take back what an unfinished attempt left, and what no reader can be at any more."""
        if not head.collection:
            return
        if head.last > head.generation:
            self.remove(head.collection, versions.left_over(head))
            self._connection.call(
                "set_payload",
                collection_name=head.collection,
                payload={"removed": LIVE},
                points=versions.undone(head),
            )
        turn.renew()
        self._remove_outlived(head)

    def _remove_outlived(self, head: Head) -> None:
        """Remove what is in no version that anybody may still read."""
        settled = self._connection.settled
        if settled is None:
            oldest = _oldest(head, time.time())
            left = [name for name, since in head.left if since <= time.time() - GRACE_S]
        else:
            with self._connection.turns:
                oldest = settled.oldest(self._source, head.generation)
            left = [name for name, _ in head.left] if oldest == head.generation else []
        self.remove(head.collection, versions.outlived(self._source, oldest))
        in_use = {one.collection for one in self._heads.current()} | {head.collection}
        for name in left:
            if name not in in_use and self._connection.call("collection_exists", collection_name=name):
                self._tokens.drop(
                    [point.id for point in versions.every(self._connection, name, None, fields=False)]
                )
                self._connection.call("delete_collection", collection_name=name)

    def remove(self, collection: str, which: models.Filter) -> None:
        """Remove points and their tokens."""
        ids = [point.id for point in versions.every(self._connection, collection, which, fields=False)]
        for some in _batches(ids, _IDS):
            self._connection.call("delete", collection_name=collection, points_selector=some)
            self._tokens.drop(some)

    def _before(self, head: Head) -> dict[bytes, str]:
        """Content -> id of the chunks and documents of the current version."""
        if not head.generation:
            return {}
        ids = unpacked_ids(versions.blob(self._connection, head, "order"))
        return {UUID(one).bytes[:_CONTENT_BYTES]: one for one in ids}

    def _send(
        self,
        collection: str,
        share: Share,
        turn: Turn,
        new: tuple[Sequence[int], Sequence[bytes]],
        progress: Progress | None,
    ) -> None:
        rows, documents = new
        total, done = len(rows), 0
        for some in _batches(documents, _BATCH):
            self._upsert(collection, share.document_points(some, turn.generation), turn)
        for batch in _batches(rows, _BATCH):
            self._upsert(collection, share.chunk_points(batch, turn.generation, self._tokens), turn)
            done += len(batch)
            if progress is not None:
                progress(done, total)

    def _send_wholes(
        self, collection: str, share: Share, turn: Turn, wholes: Mapping[str, bytes]
    ) -> dict[str, list[str]]:
        blobs: dict[str, list[str]] = {}
        for name, data in wholes.items():
            blobs[name], points = share.blob_points(name, data, turn.generation)
            for point in points:
                self._upsert(collection, [point], turn)
        return blobs

    def _upsert(self, collection: str, points: Iterable[Any], turn: Turn) -> None:
        turn.renew()
        self._connection.call("upsert", collection_name=collection, points=list(points), wait=True)

    def _mark(self, collection: str, ids: Sequence[str], turn: Turn) -> None:
        for some in _batches(ids, _IDS):
            turn.renew()
            self._connection.call(
                "set_payload",
                collection_name=collection,
                payload={"removed": turn.generation},
                points=list(some),
            )


def _history(head: Head, collection: str, now: float) -> dict[str, Any]:
    """What a new head knows of those before it."""
    earlier, left = list(_recent(head.earlier, now)), [one for one in head.left if one[0] != collection]
    if head.generation:
        earlier.append((head.generation, now))
        left += [(head.collection, now)] if head.collection != collection else []
    return {"earlier": tuple(earlier), "left": tuple(left)}


def _recent(earlier: Iterable[tuple[int, float]], now: float) -> Iterator[tuple[int, float]]:
    return (one for one in earlier if one[1] > now - GRACE_S)


def _oldest(head: Head, now: float) -> int:
    """The lowest generation that a reader may still be at."""
    return min((number for number, _ in _recent(head.earlier, now)), default=head.generation)


def _batches(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some
