"""Binary copies of an index beside its JSON, mapped into memory instead of parsed.

``embeddings/cache/<name>/`` holds arrays (``.npy``), the terms, and ``record.json``, which is
written last and ties the copies to one ``embeddings.json``. The name holds a checksum of the
content, so files that a running server has mapped are never overwritten by another index.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from pipeline.index import Postings
from pipeline.stores.switch import write_durably
from pipeline.stores.token_store import PackedTokens, QuantisedTokens
from pipeline.types import FloatMatrix

__all__ = ["CachedIndex", "FileState", "read_cache", "remove_other_caches", "state_of", "write_cache"]

CACHE_VERSION = 1
_RECORD = "record.json"
_TERMS = "terms.json"


@dataclass(frozen=True, slots=True)
class FileState:
    """Size and time of change of ``embeddings.json``: equal ones mean it need not be read again."""

    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class CachedIndex:
    """What the caches hold; read from them, the arrays are mapped and read-only."""

    vectors: FloatMatrix
    text_vectors: FloatMatrix
    tokens: PackedTokens
    postings: Postings


def state_of(path: Path) -> FileState:
    """The present state of a file."""
    status = path.stat()
    return FileState(status.st_size, status.st_mtime_ns)


def write_cache(folder: Path, content: CachedIndex, checksum: str, state: FileState) -> None:
    """Write a cache folder as a whole.

    Args:
        folder: Replaced as a whole.
        content: What to write.
        checksum: SHA-256 of the ``embeddings.json`` the copies belong to.
        state: That file's state.

    Raises:
        OSError: There is no room, or this place cannot be written to; nothing is left behind.
    """
    draft = folder.with_name(f"{folder.name}.{os.getpid()}.new")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        for name, array in _arrays(content).items():
            np.save(draft / f"{name}.npy", array, allow_pickle=False)
        _write_tokens(draft, content.tokens, content.vectors.shape[1])
        (draft / _TERMS).write_bytes(orjson.dumps(list(content.postings.terms)))
        for path in draft.iterdir():
            _flush(path)  # sizes alone would not tell that a power loss left zeros in a file
        sizes = {path.name: path.stat().st_size for path in sorted(draft.iterdir())}
        _write_record(draft, checksum, state, sizes)
        shutil.rmtree(folder, ignore_errors=True)
        draft.replace(folder)
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def read_cache(folder: Path, checksum: str, state: FileState, verify: Path) -> CachedIndex | None:
    """The caches if they belong to the ``embeddings.json`` at ``verify``, else None.

    The file is hashed only if its state is not the recorded one (it was copied, for example).
    """
    try:
        record = orjson.loads((folder / _RECORD).read_bytes())
        if record["version"] != CACHE_VERSION or record["checksum"] != checksum:
            return None
        sizes: dict[str, int] = record["files"]
        if any((folder / name).stat().st_size != size for name, size in sizes.items()):
            return None
        if record["state"] != [state.size, state.mtime_ns]:
            if _sha256(verify) != checksum:
                return None
            _write_record(folder, checksum, state, sizes)
        arrays = {
            name.removesuffix(".npy"): _mapped(folder / name) for name in sizes if name.endswith(".npy")
        }
        terms = orjson.loads((folder / _TERMS).read_bytes())
        return _assembled(arrays, terms)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # any damage: the caches are rebuilt from the JSON, which has checksums of its own


def remove_other_caches(folder: Path) -> None:
    """Remove the caches of earlier builds; one that another process has mapped may stay (Windows)."""
    if folder.parent.is_dir():
        for other in folder.parent.iterdir():
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)


def _write_record(folder: Path, checksum: str, state: FileState, sizes: Mapping[str, int]) -> None:
    record = {
        "version": CACHE_VERSION,
        "checksum": checksum,
        "state": [state.size, state.mtime_ns],
        "files": dict(sizes),
    }
    draft = folder / f"{_RECORD}.{os.getpid()}.new"
    try:
        write_durably(draft, orjson.dumps(record))
        draft.replace(folder / _RECORD)
    except PermissionError:
        if not (folder / _RECORD).is_file():
            raise  # else the old record only costs one more hash at the next start


def _arrays(content: CachedIndex) -> dict[str, NDArray[Any]]:
    return {
        "vectors": content.vectors,
        "text_vectors": content.text_vectors,
        "token_offsets": content.tokens.offsets,
        "term_starts": content.postings.starts,
        "term_rows": content.postings.rows,
        "term_counts": content.postings.counts,
        "lengths": content.postings.lengths,
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


def _assembled(arrays: Mapping[str, NDArray[Any]], terms: list[str]) -> CachedIndex:
    tokens = QuantisedTokens(
        arrays["token_values"], arrays["token_scales"], arrays["token_spans"], arrays["token_offsets"]
    )
    postings = Postings(
        terms={term: number for number, term in enumerate(terms)},
        starts=arrays["term_starts"],
        rows=arrays["term_rows"],
        counts=arrays["term_counts"],
        lengths=arrays["lengths"],
    )
    return CachedIndex(arrays["vectors"], arrays["text_vectors"], tokens, postings)


def _mapped(path: Path) -> NDArray[Any]:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    # A plain view: numpy.memmap costs microseconds more on every slice.
    return np.asarray(array) if array.size else np.array(array)


def _sha256(path: Path) -> str:
    import hashlib

    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
