"""The JSON files of an index, to and from the values they hold.

They may be larger than the memory of a small machine leaves free, so they are written in pieces, and
the vectors, nine tenths of all, are read in pieces too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from pipeline.index import Index
from pipeline.stores import records
from pipeline.stores.parts import damaged, parsed
from pipeline.types import Chunk, Document, FloatMatrix

__all__ = ["chunks_in", "documents_in", "dump_list", "dump_vectors", "items_of", "vectors_in"]

_BATCH = 256
_PIECE = 1 << 22
_BORDER = b']},"'
_Pair = tuple[FloatMatrix, FloatMatrix]


def dump_list(items: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """A list of records as JSON with a line break at the end, in pieces."""
    opening = b"["
    for some in _batches(items):
        yield opening + orjson.dumps(some)[1:-1]
        opening = b","
    yield b"]\n" if opening == b"," else b"[]\n"


def dump_vectors(index: Index) -> Iterator[bytes]:
    """``embeddings.json`` in pieces.

    float32 numbers are written in their shortest form and read back to the same bits.
    """
    opening = b"{"
    for some in _batches(zip(index.chunks, index.vectors, index.text_vectors, strict=True)):
        content = {chunk.id: {"topic_text": both, "text": text} for chunk, both, text in some}
        yield opening + orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1]
        opening = b","
    yield b"}\n" if opening == b"," else b"{}\n"


def items_of(path: Path, data: bytes) -> list[object]:
    """The records of a file that holds a list, or `IndexDamagedError`."""
    value = parsed(path, data)
    if not isinstance(value, list):
        raise damaged(path, "[]")
    return value


def documents_in(path: Path, data: bytes) -> dict[str, Document]:
    """The documents of ``documents.json``, or `IndexDamagedError`."""
    try:
        documents = [records.document_from(record) for record in items_of(path, data)]
    except records.BadRecordError as error:
        raise damaged(path, str(error)) from error
    return {document.id: document for document in documents}


def chunks_in(path: Path, data: bytes, documents: Mapping[str, Document]) -> tuple[Chunk, ...]:
    """The chunks of ``chunks.json``, each found in its document, or `IndexDamagedError`."""
    try:
        chunks = tuple(records.chunk_from(record) for record in items_of(path, data))
    except records.BadRecordError as error:
        raise damaged(path, str(error)) from error
    for chunk in chunks:
        document = documents.get(chunk.document_id)
        if document is None or document.text[chunk.start : chunk.end] != chunk.text:
            raise damaged(path, chunk.id)
    return chunks


def vectors_in(path: Path, chunks: Sequence[Chunk], dimension: int) -> _Pair:
    """Both vectors of every chunk, or `IndexDamagedError`.

    Returns:
        Two matrices, float32, shape (chunks, dimension): topic and text, and the text alone.
    """
    try:
        return _vectors(path, _pieces(path), chunks, dimension)
    except orjson.JSONDecodeError:  # written by another hand, with borders that only look like ours
        return _vectors(path, iter([parsed(path, path.read_bytes())]), chunks, dimension)


def _vectors(path: Path, pieces: Iterator[object], chunks: Sequence[Chunk], dimension: int) -> _Pair:
    pair = tuple(np.zeros((len(chunks), dimension), dtype=np.float32) for _ in range(2))
    row = 0
    for piece in pieces:
        after = row + len(piece) if isinstance(piece, dict) else row
        if not isinstance(piece, dict) or list(piece) != [chunk.id for chunk in chunks[row:after]]:
            raise damaged(path, "chunk ids")
        try:
            for matrix, name in zip(pair, ("topic_text", "text"), strict=True):
                values = np.array([entry[name] for entry in piece.values()], dtype=np.float32)
                matrix[row:after] = values.reshape(after - row, dimension)
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(path, str(error).strip("'")) from error
        row = after
    if row != len(chunks):
        raise damaged(path, "chunk ids")
    if not all(np.isfinite(matrix).all() for matrix in pair):
        raise damaged(path, "NaN")
    return pair[0], pair[1]


def _pieces(path: Path) -> Iterator[object]:
    """The object of a JSON file, cut between its entries into smaller ones."""
    with path.open("rb") as stream:
        first = stream.read(1)
        if first != b"{":
            yield parsed(path, first + stream.read())
            return
        rest = bytearray()
        while data := stream.read(_PIECE):
            looked_at = max(len(rest) - len(_BORDER), 0)
            rest += data
            cut = rest.rfind(_BORDER, looked_at)
            if cut >= 0:
                yield orjson.loads(b"{" + rest[: cut + 2] + b"}")
                del rest[: cut + 3]
        yield orjson.loads(b"{" + rest)


def _batches(items: Iterable[Any]) -> Iterator[list[Any]]:
    some: list[Any] = []
    for item in items:
        some.append(item)
        if len(some) == _BATCH:
            yield some
            some = []
    if some:
        yield some
