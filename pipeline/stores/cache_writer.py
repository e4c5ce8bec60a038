"""Writing the binary copies of an index: all of them in a folder of their own, or what was damaged anew."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from pipeline.index import Index, order_of
from pipeline.stores import records
from pipeline.stores.cache import DOCUMENT_IDS, TERMS, TOKEN_FILES
from pipeline.stores.cache_record import (
    RECORD,
    CacheRecord,
    FileState,
    checksum,
    read_record,
    write_record,
)
from pipeline.stores.packed_records import write_records
from pipeline.stores.token_store import PackedTokens

__all__ = ["mend_cache", "write_cache"]


def write_cache(
    folder: Path,
    index: Index,
    tokens: PackedTokens,
    checksums: Mapping[str, str],
    states: Mapping[str, FileState],
) -> None:
    """Write a cache folder as a whole.

    Args:
        folder: Replaced as a whole.
        index: What to write.
        tokens: Its tokens.
        checksums: JSON file -> SHA-256, of the build the copies belong to.
        states: Those files' states.

    Raises:
        OSError: There is no room, or this place cannot be written to; nothing is left behind.
    """
    draft = folder.with_name(f"{folder.name}.{os.getpid()}.new")
    with _draft(draft):
        _write_rest(draft, index, tokens)
        _write_tokens(draft, tokens, index.vectors.shape[1])
        files = _flushed(draft)
        write_record(draft, CacheRecord(dict(checksums), dict(states), files))
        shutil.rmtree(folder, ignore_errors=True)
        draft.replace(folder)


def mend_cache(
    folder: Path,
    index: Index,
    tokens: PackedTokens,
    checksums: Mapping[str, str],
    states: Mapping[str, FileState],
) -> None:
    """Write all copies anew but for the tokens, which were read from this very folder; else as `write_cache`.

    A crash on the way leaves the tokens and the record they are found by.
    """
    record = read_record(folder)
    if record is None:
        raise FileNotFoundError(folder / RECORD)
    kept = {name: record.files[name] for name in TOKEN_FILES}
    whole = {
        name: (size, checksum(folder / name) if crc is None else crc) for name, (size, crc) in kept.items()
    }
    draft = folder.with_name(f"{folder.name}.{os.getpid()}.new")
    with _draft(draft):
        _write_rest(draft, index, tokens)
        files = _flushed(draft)
        for name in set(files) - set(whole):
            (draft / name).replace(folder / name)
        write_record(folder, CacheRecord(dict(checksums), dict(states), {**files, **whole}))
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def _draft(folder: Path) -> Iterator[None]:
    """An empty folder that does not outlive a failure."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        yield
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _write_rest(folder: Path, index: Index, tokens: PackedTokens) -> None:
    """All copies but those of token vectors."""
    for name, array in _arrays(index, tokens).items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    write_records(folder, "chunks", (orjson.dumps(records.chunk_record(one)) for one in index.chunks))
    documents = (orjson.dumps(records.document_record(one)) for one in index.documents.values())
    write_records(folder, "documents", documents)
    (folder / DOCUMENT_IDS).write_bytes(orjson.dumps(list(index.documents)))
    (folder / TERMS).write_bytes(orjson.dumps(list(index.postings.terms)))


def _flushed(folder: Path) -> dict[str, tuple[int, int | None]]:
    """Size and checksum of every file, which is on the disk then: sizes alone would not tell zeros."""
    files: dict[str, tuple[int, int | None]] = {}
    for path in sorted(folder.iterdir()):
        _flush(path)
        files[path.name] = (path.stat().st_size, checksum(path))
    return files


def _arrays(index: Index, tokens: PackedTokens) -> dict[str, NDArray[Any]]:
    order = order_of(index)
    return {
        "vectors": index.vectors,
        "text_vectors": index.text_vectors,
        "token_offsets": tokens.offsets,
        "term_starts": index.postings.starts,
        "term_rows": index.postings.rows,
        "term_counts": index.postings.counts,
        "lengths": index.postings.lengths,
        "id_ranks": order.ranks,
        "twins": order.twins,
    }


def _write_tokens(folder: Path, tokens: PackedTokens, dimension: int) -> None:
    """Write the tokens piece by piece: together they may be larger than the memory."""
    count = int(tokens.offsets[-1])
    shapes: dict[str, tuple[str, tuple[int, ...]]] = {
        "token_values": ("|i1", (count, dimension)),
        "token_spans": ("<i4", (count, 2)),
        "token_scales": ("<f4", (count,)),
    }
    with ExitStack() as stack:
        streams = []
        for name, (kind, shape) in shapes.items():
            stream = stack.enter_context((folder / f"{name}.npy").open("wb"))
            head = {"descr": kind, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(stream, head)
            streams.append(stream)
        for block in tokens.blocks(0, len(tokens)):
            for stream, array in zip(streams, block, strict=True):
                stream.write(np.ascontiguousarray(array).data)


def _flush(path: Path) -> None:
    with path.open("r+b") as stream:
        os.fsync(stream.fileno())
