"""The index on disk: plain JSON that any program can read, with binary copies beside it.

``manifest.json`` holds the SHA-256 of the other three files, so files of different builds are
never taken for one index (cases 20 and 21).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from pipeline.errors import IndexDamagedError, IndexUnusableError
from pipeline.index import Index, Manifest
from pipeline.messages import Phrase
from pipeline.ports import Embedder, EmbedderSpec, Progress
from pipeline.stores import records
from pipeline.stores.cache import CachedIndex, read_cache, remove_other_caches, state_of, write_cache
from pipeline.stores.encode import encode_chunks
from pipeline.stores.faults import FULL, READ_ONLY
from pipeline.stores.parts import (
    CHUNKS,
    DOCUMENTS,
    EMBEDDINGS,
    MANIFEST,
    Parts,
    check_embedder,
    damaged,
    parsed,
    read_head,
    read_parts,
    stamp,
    with_checksum,
)
from pipeline.stores.switch import MARKER, commit, current, recover, stage, unstage
from pipeline.stores.token_store import GatheredTokens, QuantisedTokens
from pipeline.text.embedded import TOPIC_CHARACTERS
from pipeline.text.postings import chunk_postings
from pipeline.types import Chunk, Document, FloatMatrix

__all__ = ["load", "read_manifest", "remove_leftovers", "save", "stamp"]

_RETRIES = 5  # a reader may meet a writer, and that one may be followed by another


def save(index: Index, folder: Path) -> None:
    """Write an index over the old one; a crash at any point leaves the old or the new one whole.

    Call it within `pipeline.stores.lock.index_lock`.

    Raises:
        OSError: It could not be written; the old one is whole, and nothing is left beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    recover(folder)
    contents = {
        CHUNKS: _dump([records.chunk_record(chunk) for chunk in index.chunks]),
        DOCUMENTS: _dump([records.document_record(document) for document in index.documents.values()]),
        EMBEDDINGS: _dump_vectors(index),
    }
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
    contents[MANIFEST] = orjson.dumps(
        records.manifest_record(index.manifest) | {"chunks": len(index.chunks), "checksums": sums},
        option=orjson.OPT_INDENT_2,
    )
    cache = _cache_folder(folder, index.manifest, sums[EMBEDDINGS])
    try:
        stage(folder, contents)
        if isinstance(index.tokens, QuantisedTokens | GatheredTokens):
            cached = CachedIndex(index.vectors, index.text_vectors, index.tokens, index.postings)
            write_cache(cache, cached, sums[EMBEDDINGS], state_of(folder / f"{EMBEDDINGS}.new"))
        commit(folder, list(contents))
    except OSError:
        _take_back(folder, contents)
        raise
    remove_other_caches(cache)


def remove_leftovers(folder: Path) -> None:
    """Remove what an interrupted `save` left beside a whole index; call it within the lock too."""
    recover(folder)
    head = read_head(folder, None)
    remove_other_caches(_cache_folder(folder, head.manifest, head.checksums[EMBEDDINGS]))
    unstage(folder, (CHUNKS, DOCUMENTS, EMBEDDINGS, MANIFEST, MARKER))


def _take_back(folder: Path, names: Iterable[str]) -> None:
    """Remove what a failed `save` has written: it may be what fills the disk."""
    if (folder / MARKER).exists():
        return  # the new files count already; whoever reads next finishes the switch
    unstage(folder, (*names, MARKER))
    try:
        head = read_head(folder, None)
        keep = _cache_folder(folder, head.manifest, head.checksums[EMBEDDINGS])
    except IndexUnusableError:
        keep = folder / "cache" / "none"
    remove_other_caches(keep)


def read_manifest(folder: Path, expected: EmbedderSpec | None = None) -> Manifest:
    """The manifest alone, checked; cheap.

    Raises:
        IndexMissingError: There is no index in this folder.
        IndexDamagedError: The manifest cannot be used.
        IndexMismatchError: The index is of another format or embedder.
    """
    return read_head(folder, expected).manifest


def load(
    folder: Path,
    expected: EmbedderSpec | None = None,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> Index:
    """Load an index, through its binary copies where they are current.

    Args:
        folder: The index folder, ``embeddings/``.
        expected: The embedder that questions will be encoded with; None accepts any index.
        embedder: Encodes the token vectors again if their copy is gone (as long as indexing takes).
        progress: Told about that.

    Raises:
        IndexMissingError: There is no index in this folder.
        IndexDamagedError: A file is missing, cut, changed, or doesn't fit the others.
        IndexMismatchError: The index is of another format or embedder.
    """
    for _ in range(_RETRIES):
        seen = stamp(folder)
        try:
            return _load_once(folder, expected, embedder, progress, seen)
        except (_OutdatedError, FileNotFoundError):
            time.sleep(0.05)  # a writer is at work here
        except IndexDamagedError:
            if stamp(folder) == seen:
                raise  # no newer index has been written meanwhile: the damage is real
    try:
        return _load_once(folder, expected, embedder, progress, None)
    except FileNotFoundError as error:
        raise IndexDamagedError(path=error.filename, reason=Phrase("index_no_file")) from error


class _OutdatedError(Exception):
    """Another index has been written since its files were read."""


def _load_once(
    folder: Path,
    expected: EmbedderSpec | None,
    embedder: Embedder | None,
    progress: Progress | None,
    seen: object,
) -> Index:
    parts = read_parts(folder, expected)
    documents = _documents(folder, parts.documents)
    chunks = _chunks(folder, parts.chunks, documents)
    if len(chunks) != parts.count:
        raise damaged(folder / CHUNKS, f"{len(chunks)} != {parts.count}")
    cached = _from_cache(folder, parts, len(chunks))
    if cached is None:
        # A writer takes the copies of the index before away; to encode everything again would be long.
        if seen is not None and stamp(folder) != seen:
            raise _OutdatedError
        cached = _rebuilt(folder, parts, chunks, embedder, progress)
    return Index(
        manifest=parts.manifest,
        chunks=chunks,
        documents=documents,
        vectors=cached.vectors,
        text_vectors=cached.text_vectors,
        tokens=cached.tokens,
        postings=cached.postings,
    )


def _documents(folder: Path, data: bytes) -> dict[str, Document]:
    path = folder / DOCUMENTS
    try:
        documents = [records.document_from(record) for record in _list(path, data)]
    except records.BadRecordError as error:
        raise damaged(path, str(error)) from error
    return {document.id: document for document in documents}


def _chunks(folder: Path, data: bytes, documents: dict[str, Document]) -> tuple[Chunk, ...]:
    path = folder / CHUNKS
    try:
        chunks = tuple(records.chunk_from(record) for record in _list(path, data))
    except records.BadRecordError as error:
        raise damaged(path, str(error)) from error
    for chunk in chunks:
        document = documents.get(chunk.document_id)
        if document is None or document.text[chunk.start : chunk.end] != chunk.text:
            raise damaged(path, chunk.id)
    return chunks


def _list(path: Path, data: bytes) -> list[object]:
    value = parsed(path, data)
    if not isinstance(value, list):
        raise records.BadRecordError("[]")
    return value


def _from_cache(folder: Path, parts: Parts, count: int) -> CachedIndex | None:
    path = current(folder, EMBEDDINGS)
    if not path.is_file():
        raise IndexDamagedError(path=path, reason=Phrase("index_no_file"))
    cache = _cache_folder(folder, parts.manifest, parts.checksum)
    found = read_cache(cache, parts.checksum, state_of(path), path)
    shape = (count, parts.manifest.dimension)
    if found is None or found.vectors.shape != shape or found.text_vectors.shape != shape:
        return None
    return found if len(found.tokens) == count == len(found.postings.lengths) else None


def _rebuilt(
    folder: Path,
    parts: Parts,
    chunks: tuple[Chunk, ...],
    embedder: Embedder | None,
    progress: Progress | None,
) -> CachedIndex:
    path = current(folder, EMBEDDINGS)
    vectors, text_vectors = _vectors(path, with_checksum(path, parts.checksum), chunks, parts.manifest)
    if embedder is None:
        raise IndexDamagedError(path=folder / "cache", reason=Phrase("index_no_tokens"))
    check_embedder(parts.manifest, embedder.spec)
    limit = int(parts.manifest.chunker.get("topic_characters", TOPIC_CHARACTERS))
    tokens = encode_chunks(chunks, embedder, limit, progress, texts_alone=False).tokens
    cached = CachedIndex(vectors, text_vectors, tokens, chunk_postings(chunks))
    cache = _cache_folder(folder, parts.manifest, parts.checksum)
    try:
        write_cache(cache, cached, parts.checksum, state_of(path))
    except OSError as error:
        # Where the folder is read-only or full the copies stay in memory and are made at every start.
        if error.errno not in (*READ_ONLY, *FULL):
            raise
    return cached


def _vectors(
    path: Path, data: bytes, chunks: Sequence[Chunk], manifest: Manifest
) -> tuple[FloatMatrix, FloatMatrix]:
    record = parsed(path, data)
    if not isinstance(record, dict) or list(record) != [chunk.id for chunk in chunks]:
        raise damaged(path, "chunk ids")
    shape = (len(chunks), manifest.dimension)
    try:
        pair = [
            np.array([entry[name] for entry in record.values()], dtype=np.float32).reshape(shape)
            for name in ("topic_text", "text")
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, str(error).strip("'")) from error
    if not all(np.isfinite(matrix).all() for matrix in pair):
        raise damaged(path, "NaN")
    return pair[0], pair[1]


def _dump(value: list[dict[str, Any]]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def _dump_vectors(index: Index) -> bytes:
    # float32 numbers are written in their shortest form and read back to the same bits.
    pairs = zip(index.chunks, index.vectors, index.text_vectors, strict=True)
    content = {chunk.id: {"topic_text": both, "text": text} for chunk, both, text in pairs}
    return orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)


def _cache_folder(folder: Path, manifest: Manifest, checksum: str) -> Path:
    return folder / "cache" / f"{manifest.build_id}-{checksum[:8]}"
