"""Loading an index: through its binary copies where they are current, else from the JSON and mending them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pipeline.errors import IndexDamagedError
from pipeline.index import Index, Manifest
from pipeline.messages import Phrase
from pipeline.ports import Embedder, EmbedderSpec, Progress
from pipeline.stores.cache import (
    read_cache,
    read_tokens,
    renew_states,
)
from pipeline.stores.cache_record import FileState, state_of
from pipeline.stores.cache_writer import mend_cache, write_cache
from pipeline.stores.encode import encode_chunks
from pipeline.stores.faults import FULL, READ_ONLY
from pipeline.stores.json_files import chunks_in, documents_in, items_of, vectors_in
from pipeline.stores.parts import (
    CHUNKS,
    DOCUMENTS,
    EMBEDDINGS,
    Head,
    check_checksum,
    check_embedder,
    damaged,
    read_head,
    stamp,
    with_checksum,
)
from pipeline.stores.stored_texts import Truth
from pipeline.stores.switch import MARKER, current, recover
from pipeline.text.embedded import TOPIC_CHARACTERS
from pipeline.text.postings import chunk_postings

__all__ = ["JSON_FILES", "cache_folder", "load"]

JSON_FILES = (CHUNKS, DOCUMENTS, EMBEDDINGS)
_RETRIES = 5  # a reader may meet a writer, and that one may be followed by another


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
    files = {name: current(folder, name) for name in JSON_FILES}
    data = {name: with_checksum(files[name], head.checksums[name]) for name in (CHUNKS, DOCUMENTS)}
    documents = documents_in(files[DOCUMENTS], data[DOCUMENTS])
    chunks = chunks_in(files[CHUNKS], data[CHUNKS], documents)
    del data
    if len(chunks) != head.count:
        raise damaged(files[CHUNKS], f"{len(chunks)} != {head.count}")
    check_checksum(files[EMBEDDINGS], head.checksums[EMBEDDINGS])
    vectors, text_vectors = vectors_in(files[EMBEDDINGS], chunks, head.manifest.dimension)
    cache = cache_folder(folder, head.manifest, head.checksums[EMBEDDINGS])
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
    files = {name: current(folder, name) for name in JSON_FILES}
    for path in files.values():
        if not path.is_file():
            raise IndexDamagedError(path=path, reason=Phrase("index_no_file"))
    cache = cache_folder(folder, head.manifest, head.checksums[EMBEDDINGS])
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


def cache_folder(folder: Path, manifest: Manifest, checksum: str) -> Path:
    """Where the copies of an index are; ``checksum`` is that of its ``embeddings.json``."""
    return folder / "cache" / f"{manifest.build_id}-{checksum[:8]}"
