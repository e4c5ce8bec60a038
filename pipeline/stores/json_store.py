"""The index on disk: plain JSON that any program can read, with binary copies beside it.

``manifest.json`` holds the SHA-256 of the other three files, so files of different builds are
never taken for one index (cases 20 and 21).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import orjson

from pipeline.errors import IndexDamagedError, IndexUnusableError
from pipeline.index import Calibration, Index, Manifest
from pipeline.messages import Phrase
from pipeline.ports import Embedder, EmbedderSpec, Progress
from pipeline.stores import records
from pipeline.stores.cache import (
    condemn,
    damaged_copies,
    read_cache,
    read_tokens,
    remove_other_caches,
    renew_states,
    size_of,
)
from pipeline.stores.cache_record import FileState, state_of
from pipeline.stores.cache_writer import mend_cache, write_cache
from pipeline.stores.encode import encode_chunks
from pipeline.stores.faults import FULL, READ_ONLY
from pipeline.stores.json_files import chunks_in, documents_in, dump_list, dump_vectors, items_of, vectors_in
from pipeline.stores.parts import (
    CHUNKS,
    DOCUMENTS,
    EMBEDDINGS,
    MANIFEST,
    Head,
    check_checksum,
    check_embedder,
    damaged,
    read_head,
    stamp,
    with_checksum,
)
from pipeline.stores.stored_texts import Truth
from pipeline.stores.switch import MARKER, commit, current, recover, stage, unstage
from pipeline.stores.token_store import GatheredTokens, QuantisedTokens
from pipeline.text.embedded import TOPIC_CHARACTERS
from pipeline.text.postings import chunk_postings

__all__ = [
    "check_copies",
    "load",
    "read_manifest",
    "remove_leftovers",
    "save",
    "save_calibration",
    "stamp",
]

_RETRIES = 5  # a reader may meet a writer, and that one may be followed by another
_TEXTS = (CHUNKS, DOCUMENTS, EMBEDDINGS)


def save(index: Index, folder: Path) -> None:
    """Write an index over the old one; a crash at any point leaves the old or the new one whole.

    Call it within `pipeline.stores.lock.index_lock`. What is written is never in memory as a whole.

    Raises:
        OSError: It could not be written; the old one is whole, and nothing is left beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    recover(folder)
    names = (*_TEXTS, MANIFEST)
    contents = {
        CHUNKS: dump_list(records.chunk_record(chunk) for chunk in index.chunks),
        DOCUMENTS: dump_list(records.document_record(document) for document in index.documents.values()),
        EMBEDDINGS: dump_vectors(index),
    }
    try:
        sums = stage(folder, contents)
        head = Head(index.manifest, sums, len(index.chunks), index.calibration)
        stage(folder, {MANIFEST: [_manifest(head)]})
        cache = _cache_folder(folder, index.manifest, sums[EMBEDDINGS])
        if isinstance(index.tokens, QuantisedTokens | GatheredTokens):
            states = {name: state_of(folder / f"{name}.new") for name in _TEXTS}
            write_cache(cache, index, index.tokens, sums, states)
        commit(folder, names)
    except OSError:
        _take_back(folder, names)
        raise
    remove_other_caches(cache)


def save_calibration(calibration: Calibration, folder: Path) -> None:
    """Write another calibration into a whole index; call it within the lock too.

    Raises:
        IndexUnusableError: There is no index in this folder.
        OSError: It could not be written; the index is as it was.
    """
    recover(folder)
    head = replace(read_head(folder, None), calibration=calibration)
    try:
        stage(folder, {MANIFEST: [_manifest(head)]})
        commit(folder, [MANIFEST])
    except OSError:
        _take_back(folder, [MANIFEST])
        raise


def remove_leftovers(folder: Path) -> None:
    """Remove what an interrupted `save` left beside a whole index; call it within the lock too."""
    recover(folder)
    head = read_head(folder, None)
    remove_other_caches(_cache_folder(folder, head.manifest, head.checksums[EMBEDDINGS]))
    unstage(folder, (*_TEXTS, MANIFEST, MARKER))


def check_copies(folder: Path, *, share: float = 1.0, largest: float = math.inf) -> bool:
    """Read all binary copies; damaged ones are not used again. True if they are as they were written.

    Args:
        folder: The index folder.
        share: Of one core's time to take at most, above 0.
        largest: Bytes; more than that is not read, and taken to be right.

    Raises:
        IndexUnusableError: There is no index.
    """
    head = read_head(folder, None)
    cache = _cache_folder(folder, head.manifest, head.checksums[EMBEDDINGS])
    if size_of(cache) > largest:
        return True
    names = damaged_copies(cache, share=share)
    if not names or read_head(folder, None) != head:
        return True  # or another index has been written meanwhile
    condemn(cache, names)
    return False


def _manifest(head: Head) -> bytes:
    record = records.manifest_record(head.manifest) | {"chunks": head.count, "checksums": head.checksums}
    return orjson.dumps(record | records.calibration_record(head.calibration), option=orjson.OPT_INDENT_2)


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
        recover(folder)
        seen = stamp(folder)
        try:
            return _load_once(folder, expected, embedder, progress, seen)
        except _OutdatedError:
            pass  # a writer is at work here
        except FileNotFoundError:
            pass  # likewise
        except IndexDamagedError:
            if not (folder / MARKER).exists() and stamp(folder) == seen:
                raise  # no newer index has been written meanwhile: the damage is real
        time.sleep(0.05)
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
    head = read_head(folder, expected)
    found = _from_cache(folder, head)
    if found is not None:
        return replace(found, calibration=head.calibration)
    files = {name: current(folder, name) for name in _TEXTS}
    data = {name: with_checksum(files[name], head.checksums[name]) for name in (CHUNKS, DOCUMENTS)}
    documents = documents_in(files[DOCUMENTS], data[DOCUMENTS])
    chunks = chunks_in(files[CHUNKS], data[CHUNKS], documents)
    del data
    if len(chunks) != head.count:
        raise damaged(files[CHUNKS], f"{len(chunks)} != {head.count}")
    check_checksum(files[EMBEDDINGS], head.checksums[EMBEDDINGS])
    vectors, text_vectors = vectors_in(files[EMBEDDINGS], chunks, head.manifest.dimension)
    cache = _cache_folder(folder, head.manifest, head.checksums[EMBEDDINGS])
    tokens = read_tokens(cache, head.checksums[EMBEDDINGS], len(chunks), head.manifest.dimension)
    write = write_cache if tokens is None else mend_cache
    if tokens is None:
        # A writer takes the copies of the index before away; to encode everything again would be long.
        if seen is not None and stamp(folder) != seen:
            raise _OutdatedError
        if embedder is None:
            raise IndexDamagedError(path=folder / "cache", reason=Phrase("index_no_tokens"))
        check_embedder(head.manifest, embedder.spec)
        limit = int(head.manifest.chunker.get("topic_characters", TOPIC_CHARACTERS))
        tokens = encode_chunks(chunks, embedder, limit, progress, texts_alone=False).tokens
    index = Index(
        manifest=head.manifest,
        chunks=chunks,
        documents=documents,
        vectors=vectors,
        text_vectors=text_vectors,
        tokens=tokens,
        postings=chunk_postings(chunks),
        calibration=head.calibration,
    )
    try:
        write(cache, index, tokens, head.checksums, {name: state_of(path) for name, path in files.items()})
    except OSError as error:
        # Where the folder is read-only or full the copies stay in memory and are made at every start.
        if error.errno not in (*READ_ONLY, *FULL):
            raise
        return index
    return _from_cache(folder, head) or index


def _from_cache(folder: Path, head: Head) -> Index | None:
    """The index through its copies, where these belong to JSON files that are whole.

    A JSON file is hashed only if its state is not the recorded one (it was copied, for example).
    """
    files = {name: current(folder, name) for name in _TEXTS}
    for path in files.values():
        if not path.is_file():
            raise IndexDamagedError(path=path, reason=Phrase("index_no_file"))
    cache = _cache_folder(folder, head.manifest, head.checksums[EMBEDDINGS])
    found = read_cache(cache, head.manifest, head.checksums, _truths(folder, head))
    if found is None or len(found[0].chunks) != head.count:
        return None
    index, known = found
    states = {name: state_of(path) for name, path in files.items()}
    if states != known:
        for name, path in files.items():
            if states[name] != known.get(name):
                check_checksum(path, head.checksums[name])
        _note(cache, states)
    return index


def _note(cache: Path, states: Mapping[str, FileState]) -> None:
    try:
        renew_states(cache, states)
    except OSError as error:
        if error.errno not in (*READ_ONLY, *FULL):
            raise  # else the next start looks at the JSON once more


def _truths(folder: Path, head: Head) -> dict[str, Truth]:
    def truth(name: str) -> Truth:
        def read() -> list[object]:
            path = current(folder, name)
            return items_of(path, with_checksum(path, head.checksums[name]))

        return read

    return {"chunks": truth(CHUNKS), "documents": truth(DOCUMENTS)}


def _cache_folder(folder: Path, manifest: Manifest, checksum: str) -> Path:
    return folder / "cache" / f"{manifest.build_id}-{checksum[:8]}"
