"""Vectors of chunks: two a chunk, and its token vectors, each text encoded once, in bounded slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.ports import Embedder, Progress
from pipeline.stores.token_store import GatheredTokens, PackedTokens, QuantisedText, quantise, starts_of
from pipeline.stores.vector_book import MemoryBook, VectorBook, text_key
from pipeline.text.embedded import embedded_with_map
from pipeline.types import Chunk, FloatMatrix

__all__ = ["ChunkVectors", "encode_chunks"]

_SLICE = 64  # texts a call: their float32 token vectors are the peak of memory, and what a crash can cost


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """Vectors of topic + text, of the text alone, and the tokens of the first.

    Attributes:
        encoded_tokens: Tokens of topic + text of all chunks.
        encoded: Chunks that the embedder was given now; what the others give was known.
    """

    vectors: FloatMatrix
    text_vectors: FloatMatrix
    tokens: PackedTokens
    encoded_tokens: int
    encoded: int


@dataclass(frozen=True, slots=True)
class _Job:
    """A text to encode."""

    key: bytes
    text: str
    with_tokens: bool


@dataclass(frozen=True, slots=True)
class _Keys:
    """Under which keys the vectors of a chunk are found."""

    both: bytes
    alone: bytes


def encode_chunks(
    chunks: Sequence[Chunk],
    embedder: Embedder,
    topic_limit: int,
    progress: Progress | None = None,
    *,
    book: VectorBook | None = None,
    texts_alone: bool = True,
) -> ChunkVectors:
    """Encode chunks as passages.

    Equal texts are encoded once. Texts are taken by length, so that little padding is computed. A
    chunk without a topic has two equal vectors.

    Args:
        chunks: In row order.
        embedder: Adds the passage prefix itself.
        topic_limit: Characters of a topic that are embedded.
        progress: Called with (characters done, characters in all).
        book: What is in it is not encoded again, and what is encoded is put into it at once; the
            token vectors of the result are read from it.
        texts_alone: False leaves ``text_vectors`` zero, for a rebuild of token vectors only.
    """
    kept = MemoryBook() if book is None else book
    jobs: dict[bytes, _Job] = {}
    keys = [_planned(chunk, embedder, topic_limit, jobs, texts_alone=texts_alone) for chunk in chunks]
    encoded = _carry_out(list(jobs.values()), embedder, kept, progress)
    shape = (len(chunks), embedder.spec.dimension)
    vectors, text_vectors = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)
    for row, found in enumerate(keys):
        vectors[row] = kept.vector(found.both)
        if texts_alone:
            text_vectors[row] = kept.vector(found.alone)

    def tokens(row: int) -> QuantisedText:
        values, spans = kept.tokens(keys[row].both)
        made = embedded_with_map(chunks[row].topic, chunks[row].text, topic_limit)
        return values, made.spans_in_chunk(spans)

    offsets = starts_of([kept.count(found.both) for found in keys])
    return ChunkVectors(vectors, text_vectors, GatheredTokens(offsets, tokens), int(offsets[-1]), encoded)


def _planned(
    chunk: Chunk, embedder: Embedder, topic_limit: int, jobs: dict[bytes, _Job], *, texts_alone: bool
) -> _Keys:
    """Add what a chunk needs to the jobs."""
    made = embedded_with_map(chunk.topic, chunk.text, topic_limit)
    both = text_key(embedder.spec, made.text)
    jobs[both] = _Job(both, made.text, with_tokens=True)
    if not made.offset:
        return _Keys(both, both)
    alone = text_key(embedder.spec, made.body.text)
    if texts_alone:
        jobs.setdefault(alone, _Job(alone, made.body.text, with_tokens=False))
    return _Keys(both, alone)


def _carry_out(jobs: Sequence[_Job], embedder: Embedder, book: VectorBook, progress: Progress | None) -> int:
    """Encode what the book lacks; how many chunks that were."""
    todo = [job for job in jobs if not book.has(job.key, with_tokens=job.with_tokens)]
    total = sum(len(job.text) for job in jobs)
    count = _Counter(progress, total, total - sum(len(job.text) for job in todo))
    for with_tokens in (True, False):
        some = [job for job in todo if job.with_tokens is with_tokens]
        some.sort(key=lambda job: (-len(job.text), job.key))
        for begin in range(0, len(some), _SLICE):
            _encode(some[begin : begin + _SLICE], embedder, book, count)
    return sum(job.with_tokens for job in todo)


def _encode(jobs: Sequence[_Job], embedder: Embedder, book: VectorBook, count: _Counter) -> None:
    texts = [job.text for job in jobs]
    with_tokens = jobs[0].with_tokens
    encoded = embedder.encode(texts, "passage", with_tokens=with_tokens, progress=count.within(texts))
    for number, job in enumerate(jobs):
        tokens = encoded.tokens[number] if encoded.tokens is not None else None
        packed = None if tokens is None else (quantise(tokens.vectors), tokens.spans)
        book.put(job.key, encoded.vectors[number], packed)
    book.flush()
    count.add(texts)


class _Counter:
    """Characters encoded so far, told to the caller; they only grow."""

    def __init__(self, progress: Progress | None, total: int, done: int) -> None:
        self._progress = progress
        self._total = total
        self._done = done
        self._told = 0
        self._tell(done)

    def within(self, texts: Sequence[str]) -> Progress:
        """For an embedder that tells how many texts of a call are done; they are of like length."""
        size = sum(len(text) for text in texts)
        return lambda done, among: self._tell(self._done + size * done // max(among, 1))

    def add(self, texts: Sequence[str]) -> None:
        """A call is over."""
        self._done += sum(len(text) for text in texts)
        self._tell(self._done)

    def _tell(self, done: int) -> None:
        if self._progress is not None and done > self._told:
            self._told = done
            self._progress(done, self._total)
