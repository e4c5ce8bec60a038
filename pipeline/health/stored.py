"""The files of an index against each other: checksums, counts, JSON against the binary copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from pipeline.errors import IndexUnusableError
from pipeline.health.finding import Finding, Say
from pipeline.index import Index
from pipeline.ports import Embedder
from pipeline.stores import json_store
from pipeline.stores.json_files import chunks_in, documents_in, vectors_in
from pipeline.stores.parts import CHUNKS, DOCUMENTS, EMBEDDINGS, check_checksum, read_head, with_checksum
from pipeline.stores.switch import current
from pipeline.text.embedded import TOPIC_CHARACTERS, embedded_text

__all__ = ["check_stored"]

_REBUILD = "otvet index --rebuild"
_SAMPLE = 5  # chunks that are encoded again
_SAME_VECTOR = 0.999  # cosine; other processors round otherwise


def check_stored(folder: Path, index: Index, embedder: Embedder, say: Say) -> list[Finding]:
    """Read every file of an index and compare what they say.

    Args:
        folder: ``embeddings/``.
        index: As it was loaded from there.
        embedder: In force now.
        say: Says texts.

    Raises:
        IndexUnusableError: The manifest cannot be read.
    """
    checks: tuple[Callable[[], Iterator[str]], ...] = (
        lambda: _checksums(folder),
        lambda: _counts(folder, index, say),
        lambda: _copies(folder, index, say),
        lambda: _model(index, embedder, say),
    )
    wrong: list[str] = []
    for check in checks:
        try:
            wrong += check()
        except IndexUnusableError as error:
            wrong.append(error.message(say.language))
    if wrong:
        return [
            Finding(say("stored"), "problem", say("stored_wrong", count=len(wrong)), _REBUILD, tuple(wrong))
        ]
    return [Finding(say("stored"), "ok", say("stored_right", chunks=len(index.chunks)))]


def _checksums(folder: Path) -> Iterator[str]:
    head = read_head(folder, None)
    for name in (CHUNKS, DOCUMENTS, EMBEDDINGS):
        check_checksum(current(folder, name), head.checksums[name])
    yield from ()


def _counts(folder: Path, index: Index, say: Say) -> Iterator[str]:
    """Chunks and documents of the JSON files are those that are served."""
    head = read_head(folder, None)
    paths = {name: current(folder, name) for name in (CHUNKS, DOCUMENTS)}
    data = {name: with_checksum(path, head.checksums[name]) for name, path in paths.items()}
    documents = documents_in(paths[DOCUMENTS], data[DOCUMENTS])
    chunks = chunks_in(paths[CHUNKS], data[CHUNKS], documents)
    if not len(chunks) == len(index.chunks) == head.count:
        yield say("stored_count", json=len(chunks), copies=len(index.chunks), manifest=head.count)
    elif any(one != other for one, other in zip(chunks, index.chunks, strict=True)):
        yield say("stored_other", name=CHUNKS)
    if documents != dict(index.documents):
        yield say("stored_other", name=DOCUMENTS)
    vectors = vectors_in(current(folder, EMBEDDINGS), chunks, head.manifest.dimension)
    if not all(map(np.array_equal, vectors, (index.vectors, index.text_vectors))):
        yield say("stored_other", name=EMBEDDINGS)


def _copies(folder: Path, index: Index, say: Say) -> Iterator[str]:
    if not json_store.check_copies(folder):
        yield say("stored_copies")
    if not len(index.tokens) == len(index.postings.lengths) == len(index.chunks):
        yield say("stored_copies")


def _model(index: Index, embedder: Embedder, say: Say) -> Iterator[str]:
    """A few chunks encoded again: the model's files may have changed under the same name."""
    count = len(index.chunks)
    rows = sorted({count * number // _SAMPLE for number in range(min(_SAMPLE, count))})
    limit = int(index.manifest.chunker.get("topic_characters", TOPIC_CHARACTERS))
    texts = [embedded_text(index.chunks[row], limit) for row in rows]
    if texts:
        cosines = (embedder.encode(texts, "passage").vectors * index.vectors[rows]).sum(axis=1)
        if float(cosines.min()) < _SAME_VECTOR:
            yield say("stored_model", cosine=f"{float(cosines.min()):.3f}")
