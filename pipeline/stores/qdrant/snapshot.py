"""One version of a base in Qdrant, as a search sees it.

The first stage is one query: the dense and the keyword list are prefetched side by side, each under the
filter, and the server joins them by reciprocal ranks. What it joined comes back with vectors and texts, so
cosines and BM25 are worked out here to the last digit, and the order is that of every other store.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.fusion import Fusion
from pipeline.index import Calibration, Index, Manifest
from pipeline.snapshot import Asked, Excerpt
from pipeline.stores.qdrant.choosing import Found, choose, excerpt_rows
from pipeline.stores.qdrant.conditions import asked_of
from pipeline.stores.qdrant.connection import Connection
from pipeline.stores.qdrant.fetched import LazyDocuments, tokens_of
from pipeline.stores.qdrant.heads import Head
from pipeline.stores.qdrant.layout import TEXT, TOPIC_TEXT, WORDS
from pipeline.stores.qdrant.owners import Owners, owner_in
from pipeline.stores.qdrant.points import chunk_in, document_in
from pipeline.stores.qdrant.terms import BaseStatistics, question_vector
from pipeline.stores.qdrant.token_bytes import TokenPlace
from pipeline.stores.qdrant.versions import in_versions
from pipeline.text.postings import counted_postings
from pipeline.types import Chunk, Document, Filter, SearchMode

if TYPE_CHECKING:
    from qdrant_client import models

__all__ = ["FIELDS", "QdrantSnapshot", "Version"]

_LOOK_AHEAD = 4 / 3  # copies of a text are few, as a rule
_WIDER = 4
_FILES = 64
_PAGE = 512
FIELDS = ["chunk", "token_count", "terms", "counts"]
"""Payload that `Found` is made of."""


@dataclass(frozen=True)
class Version:
    """What is known of the current versions of all sources together, and kept between requests.

    Attributes:
        heads: Of the sources.
        manifest: Of all of them.
        calibration: Of the largest.
        statistics: Of all chunks.
        mean: Terms of a chunk on average.
        files: All files of documents, in order.
        owners: Which document each chunk belongs to, of each source.
    """

    heads: tuple[Head, ...]
    manifest: Manifest
    calibration: Calibration | None
    statistics: BaseStatistics
    mean: float
    files: tuple[str, ...]
    owners: tuple[Owners, ...]

    @property
    def key(self) -> tuple[tuple[str, int], ...]:
        """Tells versions apart."""
        return tuple((head.source, head.generation) for head in self.heads)

    @property
    def collection(self) -> str:
        """Where the points are."""
        return self.heads[0].collection


@dataclass(frozen=True)
class QdrantSnapshot:
    """A `pipeline.snapshot.Snapshot` of a base in Qdrant.

    Attributes:
        connection: Of the server or folder.
        version: What is searched.
        token_place: Where token vectors are.
        search: HNSW's care in searching.
    """

    connection: Connection
    version: Version
    token_place: TokenPlace
    search: int

    @property
    def manifest(self) -> Manifest:
        """What it was made from."""
        return self.version.manifest

    @property
    def calibration(self) -> Calibration | None:
        """Of refusal."""
        return self.version.calibration

    @property
    def statistics(self) -> BaseStatistics:
        """Of all chunks."""
        return self.version.statistics

    def candidates(
        self, asked: Asked, wanted: Filter | None, *, mode: SearchMode, fusion: Fusion, count: int
    ) -> Excerpt:
        """The best by meaning, by words, or by both; see `Snapshot`."""
        conditions = asked_of(wanted, self.version.files)
        limit = math.ceil(_LOOK_AHEAD * count)
        while True:
            found = [] if conditions is None else self._found(asked, conditions, mode, limit)
            chosen = choose(
                found, asked, mode=mode, fusion=fusion, count=count, limit=limit, mean=self.version.mean
            )
            if chosen is not None:
                return Excerpt(self._excerpt([found[place] for place in chosen.places]), chosen.pool)
            limit *= _WIDER  # copies of one text have filled the lists

    def listing(self, wanted: Filter | None, count: int) -> Excerpt:
        """The first chunks in document order; see `Snapshot`."""
        from qdrant_client import models

        conditions = asked_of(wanted, self.version.files)
        places: list[tuple[tuple[str, str, int], str]] = []
        begin, size = 0, _FILES
        files = () if conditions is None else self.version.files
        while begin < len(files) and len(places) < count:
            some = models.FieldCondition(
                key="path", match=models.MatchAny(any=list(files[begin : begin + size]))
            )
            for point in self._every([*(conditions or ()), some, *_kind("chunk")], _PLACE_FIELDS):
                chunk = point.payload["chunk"]
                owner = owner_in(self.version.owners, point.id)
                places.append(((chunk["file"], owner, chunk["ordinal"]), point.id))
            begin, size = begin + size, size * _WIDER
        first = [one for _, one in sorted(places)[:count]]
        found = self._retrieved(first)
        return Excerpt(self._excerpt(found), excerpt_rows(len(found)))

    def chunk(self, chunk_id: str) -> Chunk | None:
        """The chunk of this id, if there is one."""
        point = self._one("chunk", "chunk_id", chunk_id, ["chunk"])
        return None if point is None else chunk_in(point.payload, owner_in(self.version.owners, point.id))

    def document(self, document_id: str) -> Document | None:
        """The document of this id, if there is one."""
        point = self._one("document", "document_id", document_id, ["packed"])
        return None if point is None else document_in(point.payload)

    def _found(
        self, asked: Asked, conditions: Sequence[models.Condition], mode: SearchMode, limit: int
    ) -> list[Found]:
        from qdrant_client import models

        words = question_vector(asked.terms) if mode != "dense" else None
        if mode == "keyword" and words is None:
            return []
        care = None if self.connection.local else models.SearchParams(hnsw_ef=max(self.search, limit))
        vector = asked.vector.tolist()
        with self.connection.turns:  # so that it is settled still when the query runs
            must = [*conditions, *self._own()]
            condition = models.Filter(must=must) if must else None
            lists = [
                models.Prefetch(query=vector, using=TOPIC_TEXT, filter=condition, params=care, limit=limit),
                models.Prefetch(query=words, using=WORDS, filter=condition, limit=limit),
            ]
            if mode == "hybrid" and words is not None:
                query: dict[str, Any] = {
                    "prefetch": lists,
                    "query": models.FusionQuery(fusion=models.Fusion.RRF),
                    "limit": 2 * limit,
                }
            else:
                by = WORDS if mode == "keyword" else TOPIC_TEXT
                query = {
                    "query": words if mode == "keyword" else vector,
                    "using": by,
                    "query_filter": condition,
                    "limit": limit,
                }
                query |= {"search_params": care} if by == TOPIC_TEXT else {}
            answer = self.connection.call(
                "query_points",
                collection_name=self.version.collection,
                with_payload=FIELDS,
                with_vectors=[TOPIC_TEXT, TEXT],
                **query,
            )
        return [self._made(point) for point in answer.points]

    def _made(self, point: Any) -> Found:  # noqa: ANN401 - the client's
        return Found.of(point, owner_in(self.version.owners, point.id))

    def _own(self) -> list[models.Condition]:
        """What the points of this version meet; nothing where there are no others."""
        settled = self.connection.settled
        if settled is not None and not settled.writers:
            key, alone = settled.versions.get(self.version.collection, ((), False))
            if key != self.version.key:
                alone = not self._strangers()
                settled.versions[self.version.collection] = (self.version.key, alone)
            if alone:
                return []
        return in_versions(self.version.heads)

    def _strangers(self) -> int:
        """How many points are of other versions."""
        from qdrant_client import models

        own = models.Filter(must=in_versions(self.version.heads))
        counted = self.connection.call(
            "count",
            collection_name=self.version.collection,
            count_filter=models.Filter(must_not=[own]),
            exact=True,
        )
        return int(counted.count)

    def _every(self, conditions: Sequence[models.Condition], fields: Sequence[str]) -> Iterator[Any]:
        from qdrant_client import models

        offset = None
        while True:
            page, offset = self.connection.call(
                "scroll",
                collection_name=self.version.collection,
                scroll_filter=models.Filter(must=[*conditions, *in_versions(self.version.heads)]),
                limit=_PAGE,
                offset=offset,
                with_payload=list(fields),
            )
            yield from page
            if offset is None:
                return

    def _one(self, kind: str, key: str, value: str, fields: Sequence[str]) -> Any:  # noqa: ANN401 - the client's
        from qdrant_client import models

        wanted = models.FieldCondition(key=key, match=models.MatchValue(value=value))
        return next(self._every([wanted, *_kind(kind)], fields), None)

    def _retrieved(self, ids: Sequence[str]) -> list[Found]:
        """Points by id, in this order."""
        if not ids:
            return []
        points = self.connection.call(
            "retrieve",
            collection_name=self.version.collection,
            ids=list(ids),
            with_payload=FIELDS,
            with_vectors=[TOPIC_TEXT, TEXT],
        )
        found = {point.id: self._made(point) for point in points}
        return [found[one] for one in ids if one in found]

    def _excerpt(self, found: Sequence[Found]) -> Index:
        dimension = self.version.manifest.dimension
        chunks = tuple(one.chunk for one in found)
        return Index(
            manifest=self.version.manifest,
            chunks=chunks,
            documents=LazyDocuments(frozenset(chunk.document_id for chunk in chunks), self.document),
            vectors=_matrix([one.vector for one in found], dimension),
            text_vectors=_matrix([one.text_vector for one in found], dimension),
            tokens=tokens_of(
                self.token_place,
                self.version.collection,
                [(one.id, one.token_count) for one in found],
                dimension,
            ),
            postings=counted_postings([one.terms for one in found]),
            calibration=self.version.calibration,
        )


_PLACE_FIELDS = ("chunk.file", "chunk.ordinal")


def _kind(name: str) -> list[models.Condition]:
    from qdrant_client import models

    return [models.FieldCondition(key="kind", match=models.MatchValue(value=name))]


def _matrix(vectors: Sequence[np.ndarray], dimension: int) -> np.ndarray:
    return np.stack(vectors) if vectors else np.zeros((0, dimension), dtype=np.float32)
