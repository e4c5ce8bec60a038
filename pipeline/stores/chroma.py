"""Dense search with Chroma: its database in a folder of ours, our own vectors, metadata mirrored for filters.

Chroma is asked for nothing but the nearest rows. Its telemetry is off and none of its embedding functions
is ever made, so it opens no connection.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ExtraMissingError
from pipeline.index import Index
from pipeline.ports import Progress
from pipeline.settings import StoreSettings
from pipeline.stores.nearest import FEW, nearest_of
from pipeline.stores.side_folder import Beside, opened
from pipeline.text.conditions import Wanted, labels_of, source_type_of, value_form
from pipeline.text.document_dates import document_day
from pipeline.types import Chunk, Document, Filter, FloatMatrix

__all__ = ["ChromaVectors", "conditions", "mirrored", "open_chroma"]

logger = logging.getLogger(__name__)

_COLLECTION = "otvet"
_Value = str | int | float | bool


class _Collection(Protocol):
    def add(
        self, ids: list[str], embeddings: FloatMatrix, metadatas: Sequence[Mapping[str, _Value]]
    ) -> None: ...

    def query(
        self, *, query_embeddings: Sequence[FloatMatrix], n_results: int, include: list[str], **limits: object
    ) -> Mapping[str, list[list[str]]]: ...


class _Client(Protocol):
    def create_collection(
        self, name: str, *, configuration: Mapping[str, object], embedding_function: None
    ) -> _Collection: ...

    def get_collection(self, name: str, *, embedding_function: None) -> _Collection: ...

    def get_max_batch_size(self) -> int: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ChromaVectors:
    """A `pipeline.snapshot.VectorIndex`.

    Attributes:
        client: Keeps the database open.
        collection: Row number as text -> vector and metadata.
        vectors: float32, shape (chunks, dimension): the vectors it was made from.
        name: As the setting ``store.kind`` calls it.
    """

    client: _Client
    collection: _Collection
    vectors: FloatMatrix
    name: str = "chroma"

    def nearest(
        self, question: FloatMatrix, count: int, wanted: Filter | None, allowed: NDArray[np.intp] | None
    ) -> NDArray[np.intp]:
        """Rows nearest by cosine; see `VectorIndex`."""
        rows = len(self.vectors) if allowed is None else len(allowed)
        count = min(count, rows)
        if not count:
            return np.zeros(0, dtype=np.intp)
        if allowed is not None and rows <= max(count, FEW * len(self.vectors)):
            return nearest_of(self.vectors, question, count, allowed)
        asked = Wanted.of(wanted) if wanted is not None else None
        limits: dict[str, Any] = {"where": conditions(asked)} if asked else {}
        if allowed is not None and asked is not None and not _is_mirrored(asked):
            limits = {"ids": [str(row) for row in allowed.tolist()]}
        try:
            found = self.collection.query(
                query_embeddings=[question], n_results=count, include=["distances"], **limits
            )
        except Exception as error:  # noqa: BLE001 - its database is only a copy: the vectors are at hand
            logger.warning("chroma: %s", error)
            return nearest_of(self.vectors, question, count, allowed)
        best = np.array([int(name) for name in found["ids"][0]], dtype=np.intp)
        return best if len(best) == count else nearest_of(self.vectors, question, count, allowed)


def mirrored(chunk: Chunk, document: Document) -> dict[str, _Value]:
    """What Chroma can filter a chunk by: tags and folders as flags, the day as a number, values as text."""
    found: dict[str, _Value] = {"type": source_type_of(document)}
    day = document_day(document)
    if day:
        found["day"] = _number(day)
    for label in labels_of(chunk.tags, document):
        found[f"tag:{label}"] = True
    for folder in _folders(document.file):
        found[f"in:{folder}"] = True
    for key, value in document.metadata.items():
        found[f"is:{key}"] = value_form(value)
    return found


def conditions(wanted: Wanted) -> Mapping[str, Any] | None:
    """A filter in Chroma's words; None where there is nothing to say."""
    parts: list[dict[str, Any]] = []
    if wanted.source_types:
        parts.append({"type": {"$in": sorted(wanted.source_types)}})
    if wanted.tags:
        parts.append(_any([{f"tag:{label}": True} for label in sorted(wanted.tags)]))
    if wanted.path_start:
        parts.append({f"in:{wanted.path_start}": True})
    parts += [{f"is:{key}": {"$in": sorted(forms)}} for key, forms in wanted.values.items()]
    if wanted.since:
        parts.append({"day": {"$gte": _number(wanted.since)}})
    if wanted.until:
        parts.append({"day": {"$lte": _number(wanted.until)}})
    if len(parts) < 2:
        return parts[0] if parts else None
    return {"$and": parts}


def _any(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return parts[0] if len(parts) == 1 else {"$or": parts}


def _is_mirrored(wanted: Wanted) -> bool:
    """True if the filter can be said in Chroma's words: a path only by whole folders."""
    return not wanted.path_start or wanted.path_start.endswith("/")


def _folders(file: str) -> Sequence[str]:
    steps = file.split("/")[:-1]
    return ["/".join(steps[:depth]) + "/" for depth in range(1, len(steps) + 1)]


def _number(day: str) -> int:
    return int(day.replace("-", ""))


def open_chroma(
    settings: StoreSettings,
    index: Index,
    embeddings: Path,
    checksum: str,
    progress: Progress | None = None,
) -> ChromaVectors:
    """The vectors of an index in Chroma; made where they are stale.

    Args:
        settings: How its graph is made and searched.
        index: Whose vectors.
        embeddings: Folder of the JSON index.
        checksum: SHA-256 of its ``embeddings.json``.
        progress: Told of (rows done, rows in all).

    Raises:
        ExtraMissingError: The extra ``chroma`` is not installed.
    """
    chromadb = _library()
    options: dict[str, str | int] = {
        "chroma": chromadb.__version__,
        "links": settings.hnsw_links,
        "build": settings.hnsw_build,
        "search": settings.hnsw_search,
    }

    def make(folder: Path) -> None:
        # A process knows a database by its path; one that was there before may still be open in it.
        client = _client(chromadb, folder / uuid4().hex)
        _fill(client, index, settings, progress)
        client.close()

    def read(folder: Path) -> ChromaVectors:
        client = _client(chromadb, next(path for path in folder.iterdir() if path.is_dir()))
        collection = client.get_collection(_COLLECTION, embedding_function=None)
        return ChromaVectors(client, collection, index.vectors)

    def in_memory() -> ChromaVectors:
        client = chromadb.EphemeralClient(settings=_quiet(chromadb))
        return ChromaVectors(client, _fill(client, index, settings, progress), index.vectors)

    return opened(
        Beside(embeddings, "chroma", index.manifest.build_id, checksum, options), make, read, in_memory
    )


def _fill(client: _Client, index: Index, settings: StoreSettings, progress: Progress | None) -> _Collection:
    graph = {
        "space": "ip",
        "max_neighbors": settings.hnsw_links,
        "ef_construction": settings.hnsw_build,
        "ef_search": settings.hnsw_search,
    }
    collection = client.create_collection(_COLLECTION, configuration={"hnsw": graph}, embedding_function=None)
    count = len(index.chunks)
    step = min(client.get_max_batch_size(), 2000)
    for begin in range(0, count, step):
        rows = range(begin, min(begin + step, count))
        chunks = [index.chunks[row] for row in rows]
        collection.add(
            ids=[str(row) for row in rows],
            embeddings=np.nan_to_num(index.vectors[begin : rows.stop]),
            metadatas=[mirrored(chunk, index.documents[chunk.document_id]) for chunk in chunks],
        )
        if progress is not None:
            progress(rows.stop, count)
    return collection


def _client(chromadb: ModuleType, folder: Path) -> _Client:
    client: _Client = chromadb.PersistentClient(path=str(folder), settings=_quiet(chromadb))
    return client


def _quiet(chromadb: ModuleType) -> object:
    return chromadb.config.Settings(anonymized_telemetry=False)


def _library() -> ModuleType:
    try:
        import chromadb
    except ImportError as error:
        raise ExtraMissingError(package="chromadb", extra="chroma") from error
    library: ModuleType = chromadb
    return library
