"""Binary copies of an index beside its JSON, mapped into memory instead of parsed.

``embeddings/cache/<name>/`` holds arrays (``.npy``), texts (``.bin``), terms and ids, and
``record.json``, which is written last and ties the copies to the JSON files of one build. The name
holds a checksum of the content, so files that a running server has mapped are never overwritten by
another index.

Sizes of all files, and the content of those in which a wrong number would lead astray, are checked
at each start; the large rest (vectors, tokens, texts) by `damaged_copies`, which takes as long as reading it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from pipeline.index import ChunkOrder, Index, Manifest, Postings
from pipeline.stores.cache_record import (
    RECORD,
    CacheRecord,
    FileState,
    checksum,
    read_record,
    write_record,
)
from pipeline.stores.packed_records import PackedRecords
from pipeline.stores.stored_texts import StoredChunks, StoredDocuments, Truth
from pipeline.stores.token_store import PackedTokens, QuantisedTokens

__all__ = [
    "DOCUMENT_IDS",
    "TERMS",
    "TOKEN_FILES",
    "condemn",
    "damaged_copies",
    "read_cache",
    "read_tokens",
    "remove_other_caches",
    "renew_states",
    "size_of",
]

TERMS = "terms.json"
DOCUMENT_IDS = "document_ids.json"
_TOKENS = ("token_values", "token_scales", "token_spans", "token_offsets")
TOKEN_FILES = tuple(f"{name}.npy" for name in _TOKENS)
_LARGE = frozenset(
    {"vectors.npy", "text_vectors.npy", "token_values.npy", "token_scales.npy", "token_spans.npy"}
    | {"chunks.bin", "documents.bin"}
)
"""Files whose content is not read at a start. Texts have a checksum of their own in each record."""
_TEXTS = frozenset({"chunks.bin", "documents.bin", TERMS, DOCUMENT_IDS})
"""Files that are not among the arrays."""


def read_cache(
    folder: Path, manifest: Manifest, checksums: Mapping[str, str], truths: Mapping[str, Truth]
) -> tuple[Index, Mapping[str, FileState]] | None:
    """The index out of its copies, and the states in which its JSON files were last seen whole.

    Args:
        folder: Of the copies.
        manifest: Of the index.
        checksums: JSON file -> SHA-256 that the copies must belong to.
        truths: ``chunks`` and ``documents`` -> what to read where their copy is damaged.

    Returns:
        None where the copies are damaged or those of another build.
    """
    record = read_record(folder)
    if record is None or dict(record.checksums) != dict(checksums) or not record.files.keys() >= _TEXTS:
        return None
    if not _whole(folder, record):
        return None
    try:
        arrays = {
            name.removesuffix(".npy"): _mapped(folder / name)
            for name in record.files
            if name.endswith(".npy")
        }
        return _assembled(folder, arrays, manifest, truths), record.states
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None  # any damage: the copies are made again from the JSON, which has checksums of its own


def read_tokens(folder: Path, embeddings: str, count: int, dimension: int) -> PackedTokens | None:
    """The token vectors alone, where the copies of the rest are damaged, stale or of an older version.

    Args:
        folder: Of the copies.
        embeddings: SHA-256 of the ``embeddings.json`` that they must belong to.
        count: Chunks.
        dimension: Of a vector.
    """
    record = read_record(folder)
    if record is None or record.checksums.get("embeddings.json") != embeddings:
        return None
    try:
        own = replace(record, files={name: record.files[name] for name in TOKEN_FILES})
        if not _whole(folder, own, everything=True):
            return None
        tokens = QuantisedTokens(*(_mapped(folder / name) for name in TOKEN_FILES))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return tokens if len(tokens) == count and tokens.fits(dimension) else None


def renew_states(folder: Path, states: Mapping[str, FileState]) -> None:
    """Note the present states of JSON files whose checksums were found right."""
    record = read_record(folder)
    if record is not None:
        write_record(folder, replace(record, states=dict(states)))


def size_of(folder: Path) -> int:
    """Bytes of all copies, as recorded."""
    record = read_record(folder)
    return sum(size for size, _ in record.files.values()) if record else 0


def damaged_copies(
    folder: Path, *, pause: Callable[[float], object] = time.sleep, share: float = 1.0
) -> list[str]:
    """The copies that are not as they were written, all of them read; the record itself where it is gone.

    Args:
        folder: Of the copies.
        pause: Waits some seconds.
        share: Of one core's time to take at most, above 0.
    """
    record = read_record(folder)
    if record is None:
        return [RECORD]
    found: list[str] = []
    for name in record.files:
        started = time.monotonic()
        if not _whole(folder, replace(record, files={name: record.files[name]}), everything=True):
            found.append(name)
        pause((time.monotonic() - started) * (1 / share - 1))
    return found


def condemn(folder: Path, names: Iterable[str]) -> None:
    """Damaged copies are not used again: the next start makes them anew."""
    record = read_record(folder)
    if record is not None:
        left = {name: pair for name, pair in record.files.items() if name not in set(names)}
        write_record(folder, replace(record, files=left))


def remove_other_caches(folder: Path) -> None:
    """Remove the caches of earlier builds; one that another process has mapped may stay (Windows)."""
    if folder.parent.is_dir():
        for other in folder.parent.iterdir():
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)


def _whole(folder: Path, record: CacheRecord, *, everything: bool = False) -> bool:
    for name, (size, crc) in record.files.items():
        path = folder / name
        try:
            if path.stat().st_size != size:
                return False
            if crc is not None and (everything or name not in _LARGE) and checksum(path) != crc:
                return False
        except OSError:
            return False
    return True


def _assembled(
    folder: Path, arrays: Mapping[str, NDArray[Any]], manifest: Manifest, truths: Mapping[str, Truth]
) -> Index:
    """The index of the copies.

    Raises:
        ValueError: They do not fit each other.
    """
    tokens = QuantisedTokens(*(arrays[name] for name in _TOKENS))
    terms: list[str] = orjson.loads((folder / TERMS).read_bytes())
    ids: list[str] = orjson.loads((folder / DOCUMENT_IDS).read_bytes())
    chunks, documents = _packed(folder, "chunks", arrays), _packed(folder, "documents", arrays)
    count, shape = len(chunks), (len(chunks), manifest.dimension)
    lengths = {len(tokens), len(arrays["lengths"]), len(arrays["id_ranks"]), len(arrays["twins"])}
    fitting = lengths == {count} and arrays["vectors"].shape == arrays["text_vectors"].shape == shape
    if not (fitting and tokens.fits(manifest.dimension) and len(ids) == len(documents)):
        raise ValueError(folder)
    postings = Postings(
        terms={term: number for number, term in enumerate(terms)},
        starts=arrays["term_starts"],
        rows=arrays["term_rows"],
        counts=arrays["term_counts"],
        lengths=arrays["lengths"],
    )
    order = ChunkOrder(arrays["id_ranks"], arrays["twins"])
    return Index(
        manifest=manifest,
        chunks=StoredChunks(chunks, order, truths["chunks"]),
        documents=StoredDocuments(documents, ids, truths["documents"]),
        vectors=arrays["vectors"],
        text_vectors=arrays["text_vectors"],
        tokens=tokens,
        postings=postings,
    )


def _packed(folder: Path, name: str, arrays: Mapping[str, NDArray[Any]]) -> PackedRecords:
    path = folder / f"{name}.bin"
    data = np.asarray(np.memmap(path, np.uint8, "r")) if path.stat().st_size else np.zeros(0, np.uint8)
    packed = PackedRecords(data, arrays[f"{name}_starts"], arrays[f"{name}_sums"])
    if not packed.fits():
        raise ValueError(path)
    return packed


def _mapped(path: Path) -> NDArray[Any]:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    # A plain view: numpy.memmap costs microseconds more on every slice.
    return np.asarray(array) if array.size else np.array(array)
