"""Dense search with FAISS: flat, which is exact, or a graph (HNSW), nearly so and faster in large bases.

Filters are applied inside the search, by a bitmap of the rows that may be found. A graph is searched along
its edges, so a filter that leaves few rows would leave it without a way to them: those are compared one by
one. Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical
Navigable Small World graphs" (2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ExtraMissingError
from pipeline.index import Index
from pipeline.ports import Progress
from pipeline.settings import StoreSettings
from pipeline.stores.nearest import FEW, nearest_of
from pipeline.stores.side_folder import Beside, opened
from pipeline.types import Filter, FloatMatrix

__all__ = ["FaissVectors", "open_faiss"]

_FILE = "vectors.faiss"
_BATCH = 1000


class _FaissIndex(Protocol):
    def add(self, vectors: FloatMatrix) -> None: ...

    def search(
        self, questions: FloatMatrix, count: int, *, params: object
    ) -> tuple[FloatMatrix, NDArray[np.int64]]: ...


@dataclass(frozen=True, slots=True)
class FaissVectors:
    """A `pipeline.snapshot.VectorIndex`.

    Attributes:
        name: ``faiss-flat`` or ``faiss-hnsw``.
        faiss: The library.
        index: Its index.
        vectors: float32, shape (chunks, dimension): the vectors it was made from.
        care: efSearch of a graph; 0 for a flat index.
    """

    name: str
    faiss: ModuleType
    index: _FaissIndex
    vectors: FloatMatrix
    care: int

    def nearest(
        self, question: FloatMatrix, count: int, wanted: Filter | None, allowed: NDArray[np.intp] | None
    ) -> NDArray[np.intp]:
        """Rows nearest by cosine; see `VectorIndex`."""
        del wanted  # the rows that meet it are all there is to know
        rows = len(self.vectors) if allowed is None else len(allowed)
        count = min(count, rows)
        if not count:
            return np.zeros(0, dtype=np.intp)
        if self.care and allowed is not None and rows <= max(count, FEW * len(self.vectors)):
            return nearest_of(self.vectors, question, count, allowed)
        # A question is one row: threads would cost more than they bring, and other requests need the cores.
        self.faiss.omp_set_num_threads(1)
        parameters = self._parameters(count, allowed)
        _, found = self.index.search(np.ascontiguousarray(question[None, :]), count, params=parameters)
        best: NDArray[np.intp] = found[0][found[0] >= 0].astype(np.intp)
        # A graph may end before it has met all that it should.
        return best if len(best) == count else nearest_of(self.vectors, question, count, allowed)

    def _parameters(self, count: int, allowed: NDArray[np.intp] | None) -> object:
        bits = None
        if allowed is not None:
            mask = np.zeros(len(self.vectors), dtype=np.bool_)
            mask[allowed] = True
            bits = self.faiss.IDSelectorBitmap(np.packbits(mask, bitorder="little"))
        if self.care:
            # The graph is walked through rows that may not be found: the fewer may, the longer the walk.
            share = 1.0 if allowed is None else len(allowed) / len(self.vectors)
            return self.faiss.SearchParametersHNSW(sel=bits, efSearch=max(int(self.care / share), count))
        return self.faiss.SearchParameters(sel=bits)


def open_faiss(
    settings: StoreSettings,
    index: Index,
    embeddings: Path,
    checksum: str,
    progress: Progress | None = None,
) -> FaissVectors:
    """The vectors of an index in FAISS, mapped from their file; made where they are stale.

    Args:
        settings: Which kind, and how its graph is made and searched.
        index: Whose vectors.
        embeddings: Folder of the JSON index.
        checksum: SHA-256 of its ``embeddings.json``.
        progress: Told of (rows done, rows in all).

    Raises:
        ExtraMissingError: The extra ``faiss`` is not installed.
    """
    faiss = _library()
    flat = settings.kind == "faiss-flat"
    options: dict[str, str | int] = {"faiss": faiss.__version__, "dimension": index.manifest.dimension}
    if not flat:
        options |= {"links": settings.hnsw_links, "build": settings.hnsw_build}

    def made() -> _FaissIndex:
        return _made(faiss, index.vectors, settings, progress)

    beside = Beside(embeddings, settings.kind, index.manifest.build_id, checksum, options)
    found = opened(
        beside,
        lambda folder: faiss.write_index(made(), str(folder / _FILE)),
        lambda folder: faiss.read_index(str(folder / _FILE), faiss.IO_FLAG_MMAP_IFC),
        made,
        files=(_FILE,),
    )
    return FaissVectors(settings.kind, faiss, found, index.vectors, 0 if flat else settings.hnsw_search)


def _made(
    faiss: ModuleType, vectors: FloatMatrix, settings: StoreSettings, progress: Progress | None
) -> _FaissIndex:
    dimension = vectors.shape[1]
    if settings.kind == "faiss-flat":
        index: _FaissIndex = faiss.IndexFlatIP(dimension)
    else:
        graph = faiss.IndexHNSWFlat(dimension, settings.hnsw_links, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = settings.hnsw_build
        index = graph
    # With one thread the same vectors give the same graph.
    faiss.omp_set_num_threads(1)
    for begin in range(0, len(vectors), _BATCH):
        index.add(np.ascontiguousarray(vectors[begin : begin + _BATCH]))
        if progress is not None:
            progress(min(begin + _BATCH, len(vectors)), len(vectors))
    return index


def _library() -> ModuleType:
    try:
        import faiss
    except ImportError as error:
        raise ExtraMissingError(package="faiss-cpu", extra="faiss") from error
    library: ModuleType = faiss
    return library
