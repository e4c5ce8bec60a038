"""The index on disk: plain JSON that any program can read, with binary copies beside it.

``manifest.json`` holds the SHA-256 of the other three files, so files of different builds are
never taken for one index (cases 20 and 21).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import orjson

from pipeline.errors import IndexUnusableError
from pipeline.index import Calibration, Index, Manifest
from pipeline.ports import EmbedderSpec
from pipeline.stores import records
from pipeline.stores.cache import (
    condemn,
    damaged_copies,
    remove_other_caches,
    size_of,
)
from pipeline.stores.cache_record import state_of
from pipeline.stores.cache_writer import write_cache
from pipeline.stores.json_files import dump_list, dump_vectors
from pipeline.stores.loading import JSON_FILES, cache_folder, load
from pipeline.stores.parts import (
    CHUNKS,
    DOCUMENTS,
    EMBEDDINGS,
    MANIFEST,
    Head,
    read_head,
    stamp,
)
from pipeline.stores.switch import MARKER, commit, recover, stage, unstage
from pipeline.stores.token_store import GatheredTokens, QuantisedTokens

__all__ = [
    "check_copies",
    "load",
    "read_manifest",
    "remove_leftovers",
    "save",
    "save_calibration",
    "stamp",
]


def save(index: Index, folder: Path) -> None:
    """Write an index over the old one; a crash at any point leaves the old or the new one whole.

    Call it within `pipeline.stores.lock.index_lock`. What is written is never in memory as a whole.

    Raises:
        OSError: It could not be written; the old one is whole, and nothing is left beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    recover(folder)
    names = (*JSON_FILES, MANIFEST)
    contents = {
        CHUNKS: dump_list(records.chunk_record(chunk) for chunk in index.chunks),
        DOCUMENTS: dump_list(records.document_record(document) for document in index.documents.values()),
        EMBEDDINGS: dump_vectors(index),
    }
    try:
        sums = stage(folder, contents)
        head = Head(index.manifest, sums, len(index.chunks), index.calibration)
        stage(folder, {MANIFEST: [_manifest(head)]})
        cache = cache_folder(folder, index.manifest, sums[EMBEDDINGS])
        if isinstance(index.tokens, QuantisedTokens | GatheredTokens):
            states = {name: state_of(folder / f"{name}.new") for name in JSON_FILES}
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
    remove_other_caches(cache_folder(folder, head.manifest, head.checksums[EMBEDDINGS]))
    unstage(folder, (*JSON_FILES, MANIFEST, MARKER))


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
    cache = cache_folder(folder, head.manifest, head.checksums[EMBEDDINGS])
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
        keep = cache_folder(folder, head.manifest, head.checksums[EMBEDDINGS])
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
