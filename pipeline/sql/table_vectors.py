"""Vectors of the descriptions of tables, and where the nearest ones are looked up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ExtraMissingError
from pipeline.ports import Embedder
from pipeline.sql.catalog import Catalog, Table

__all__ = ["TableVectors", "described"]

_CHARACTERS = 1000
_VALUES = 6

Nearest = Callable[[NDArray[np.float32]], tuple[Sequence[int], Sequence[float]]]


class TableVectors:
    """Descriptions of all tables of a catalog, embedded once.

    Args:
        catalog: The database.
        embedder: Embeds descriptions and questions.
        engine: ``faiss``, which numpy stands in for where it is not installed, or ``chroma``.

    Raises:
        ExtraMissingError: Chroma is asked for and not installed.
    """

    def __init__(self, catalog: Catalog, embedder: Embedder, engine: Literal["faiss", "chroma"]) -> None:
        self._embedder = embedder
        self._names = tuple(catalog.tables)
        texts = [described(table) for table in catalog.tables.values()]
        vectors = embedder.encode(texts, "passage").vectors
        self._nearest = _chroma(vectors, catalog.fingerprint) if engine == "chroma" else _faiss(vectors)

    def nearest(self, question: str) -> tuple[list[str], list[float]]:
        """All tables with their cosines, nearest first."""
        vector = self._embedder.encode([_short(self._embedder, question)], "query").vectors
        rows, cosines = self._nearest(vector)
        return [self._names[row] for row in rows], [float(cosine) for cosine in cosines]


def described(table: Table) -> str:
    """A table in words: what it is called, what it means, what its columns are called and hold."""
    head = ", ".join((table.name.replace("_", " "), *table.synonyms))
    parts = [f"{head}. {table.note}".strip()]
    for column in table.columns:
        if column.kind == "id":
            continue
        words = ", ".join(filter(None, (column.name.replace("_", " "), column.note, *column.synonyms)))
        values = f" ({', '.join(column.values[:_VALUES])})" if column.kind == "category" else ""
        parts.append(words + values)
    return "; ".join(parts)[:_CHARACTERS]


def _short(embedder: Embedder, question: str) -> str:
    spans = embedder.token_spans(question)
    limit = embedder.spec.token_limit
    return question if len(spans) <= limit else question[: int(spans[limit - 1][1])]


def _faiss(vectors: NDArray[np.float32]) -> Nearest:
    count = len(vectors)
    try:
        import faiss
    except ImportError:  # for dozens of tables a matrix product is as good
        return lambda vector: _by_product(vectors, vector)
    index: Any = faiss.IndexFlatIP(int(vectors.shape[1]))
    index.add(np.ascontiguousarray(vectors, dtype=np.float32))

    def nearest(vector: NDArray[np.float32]) -> tuple[Sequence[int], Sequence[float]]:
        cosines, rows = index.search(np.ascontiguousarray(vector, dtype=np.float32), count)
        return rows[0].tolist(), cosines[0].tolist()

    return nearest


def _by_product(
    vectors: NDArray[np.float32], vector: NDArray[np.float32]
) -> tuple[Sequence[int], Sequence[float]]:
    cosines = vectors @ vector[0]
    order = np.argsort(-cosines, kind="stable")
    return order.tolist(), cosines[order].tolist()


def _chroma(vectors: NDArray[np.float32], name: str) -> Nearest:
    try:
        import chromadb
        from chromadb.config import Settings
    except ImportError as error:
        raise ExtraMissingError(package="chromadb", extra="chroma") from error
    client: Any = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
    collection = client.get_or_create_collection(
        f"otvet-tables-{name or 'schema'}-{vectors.shape[1]}",
        metadata={"hnsw:space": "cosine"},
        embedding_function=None,  # else its own is made, which would fetch a model
    )
    collection.upsert(
        ids=[str(row) for row in range(len(vectors))], embeddings=[row.tolist() for row in vectors]
    )

    def nearest(vector: NDArray[np.float32]) -> tuple[Sequence[int], Sequence[float]]:
        found = collection.query(query_embeddings=[vector[0].tolist()], n_results=len(vectors))
        cosines = [1.0 - float(distance) for distance in found["distances"][0]]
        return [int(row) for row in found["ids"][0]], cosines

    return nearest
