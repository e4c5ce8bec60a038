"""What lies where in Qdrant.

Two collections. ``NAME-heads`` has one small point an indexer: which version of its share is the current
one, and who is writing. ``NAME-KIND`` (KIND: embedder and layout, in short) holds everything else as points
of three kinds:

- ``chunk``: two named vectors (`TOPIC_TEXT` is searched, `TEXT` only read), the sparse vector `WORDS`, and
  in the payload the chunk, its terms, what a filter asks for, and the token vectors;
- ``document``: the whole document, packed;
- ``blob``: what belongs to a version as a whole: manifest, term statistics, files, order of the points.

Every point says in which versions it counts: from ``added`` on, and before ``removed``. So a new version is
written beside the old one, and what both have in common is not sent again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from uuid import UUID

from pipeline.index import Manifest
from pipeline.stores.qdrant.connection import Connection

__all__ = [
    "LIVE",
    "TEXT",
    "TOPIC_TEXT",
    "WORDS",
    "Layout",
    "content_of",
    "packed_ids",
    "point_id",
    "unpacked_ids",
]

TOPIC_TEXT = "topic_text"
TEXT = "text"
WORDS = "words"
LIVE = 2**53 - 1
"""``removed`` of a point that is in the newest version."""

_VERSION = 1
_CONTENT_BYTES = 12
_KEYWORDS = ("kind", "source", "chunk_id", "document_id", "path", "source_type", "tags", "meta")
_NUMBERS = ("added", "removed", "day")


@dataclass(frozen=True, slots=True)
class Layout:
    """Names and shape of the collections.

    Attributes:
        name: What their names begin with.
        shards: Parts that a server's cluster spreads; 0: as it thinks fit.
        replicas: Copies of each part.
        links: HNSW's neighbours of a point.
        build: HNSW's care in building.
    """

    name: str = "otvet"
    shards: int = 0
    replicas: int = 1
    links: int = 32
    build: int = 200

    @property
    def heads(self) -> str:
        """The collection of the heads."""
        return f"{self.name}-heads"

    def points(self, manifest: Manifest) -> str:
        """The collection of the points made with one embedder."""
        kind = f"{_VERSION}\0{manifest.embedder_id}\0{manifest.dimension}\0{manifest.prefix_scheme}"
        return f"{self.name}-{blake2b(kind.encode(), digest_size=4).hexdigest()}"

    def create_heads(self, connection: Connection) -> None:
        """Make the collection of the heads, if there is none."""
        if not connection.call("collection_exists", collection_name=self.heads):
            self._create(connection, self.heads, vectors_config={}, shard_number=1)
            _index(connection, self.heads, lease="keyword", until="float")

    def create_points(self, connection: Connection, name: str, dimension: int) -> None:
        """Make a collection of points with its payload indexes, if there is none."""
        from qdrant_client import models

        if connection.call("collection_exists", collection_name=name):
            return
        # The vectors have length 1 already; "cosine" would change their last bits.
        searched = models.VectorParams(size=dimension, distance=models.Distance.DOT)
        read = models.VectorParams(
            size=dimension,
            distance=models.Distance.DOT,
            on_disk=True,
            hnsw_config=models.HnswConfigDiff(m=0),  # read and never searched: no graph
        )
        self._create(
            connection,
            name,
            vectors_config={TOPIC_TEXT: searched, TEXT: read},
            sparse_vectors_config={WORDS: models.SparseVectorParams()},
            hnsw_config=models.HnswConfigDiff(m=self.links, ef_construct=self.build),
            on_disk_payload=True,
            shard_number=self.shards or None,
        )
        _index(connection, name, **dict.fromkeys(_KEYWORDS, "keyword"), **dict.fromkeys(_NUMBERS, "integer"))

    def _create(self, connection: Connection, name: str, **values: object) -> None:
        connection.call("create_collection", collection_name=name, replication_factor=self.replicas, **values)
        connection.created(name)


def _index(connection: Connection, name: str, **kinds: str) -> None:
    """Index payload; without it some servers refuse to filter by it. The local engine has no indexes."""
    from qdrant_client import models

    for field, kind in () if connection.local else kinds.items():
        schema = models.PayloadSchemaType(kind)
        connection.call("create_payload_index", collection_name=name, field_name=field, field_schema=schema)


def content_of(*parts: bytes) -> bytes:
    """What two points have in common that say the same."""
    digest = blake2b(digest_size=_CONTENT_BYTES)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def point_id(content: bytes, generation: int) -> str:
    """The id of a point: its content and the version it came with. So nothing old is ever overwritten."""
    return str(UUID(bytes=content + generation.to_bytes(4, "big")))


def packed_ids(ids: Sequence[str]) -> bytes:
    """Ids in 16 bytes each."""
    return b"".join(UUID(one).bytes for one in ids)


def unpacked_ids(data: bytes) -> list[str]:
    """The reverse of `packed_ids`."""
    return [str(UUID(bytes=data[begin : begin + 16])) for begin in range(0, len(data), 16)]
