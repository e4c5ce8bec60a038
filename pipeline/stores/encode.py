"""Vectors of chunks: two a chunk, and its token vectors, each text encoded once, in bounded slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pipeline.ports import Embedder, EmbedderSpec, Progress
from pipeline.stores.known_chunks import KnownChunk, KnownChunks, KnownText
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
        encoded: Chunks that the embedder was given now; the vectors of the others were known.
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


class _Text(Protocol):
    """Where the vector of a text comes from."""

    def vector(self) -> FloatMatrix: ...


class _Chunk(_Text, Protocol):
    """Where the vector and the tokens of topic + text come from."""

    def count(self) -> int: ...

    def tokens(self) -> QuantisedText: ...


@dataclass(frozen=True, slots=True)
class _BookText:
    book: VectorBook
    key: bytes

    def vector(self) -> FloatMatrix:
        return self.book.vector(self.key)


@dataclass(frozen=True, slots=True)
class _BookChunk(_BookText):
    chunk: Chunk
    topic_limit: int

    def count(self) -> int:
        return self.book.count(self.key)

    def tokens(self) -> QuantisedText:
        values, spans = self.book.tokens(self.key)
        made = embedded_with_map(self.chunk.topic, self.chunk.text, self.topic_limit)
        return values, made.spans_in_chunk(spans)


def encode_chunks(
    chunks: Sequence[Chunk],
    embedder: Embedder,
    topic_limit: int,
    progress: Progress | None = None,
    *,
    known: KnownChunks | None = None,
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
        known: Chunks that this embedder has encoded with this limit.
        book: What is in it is not encoded again, and what is encoded is put into it at once.
        texts_alone: False leaves ``text_vectors`` zero, for a rebuild of token vectors only.

    Returns:
        Vectors; the tokens are read from ``known`` and ``book`` when asked for.
    """
    plan = _Plan(embedder.spec, topic_limit, MemoryBook() if book is None else book, known)
    wholes = [plan.whole(chunk) for chunk in chunks]
    alone = [plan.alone(chunk, whole) for chunk, whole in zip(chunks, wholes, strict=True) if texts_alone]
    encoded = _carry_out(plan, embedder, progress)
    shape = (len(chunks), embedder.spec.dimension)
    vectors, text_vectors = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)
    for rows, places in ((vectors, wholes), (text_vectors, alone)):
        for row, place in enumerate(places):
            rows[row] = place.vector()
    offsets = starts_of([whole.count() for whole in wholes])
    known_rows = np.array(
        [whole.row if isinstance(whole, KnownChunk) else -1 for whole in wholes], dtype=np.int64
    )
    source = known.tokens if known is not None else None
    tokens = GatheredTokens(offsets, lambda row: wholes[row].tokens(), source, known_rows)
    return ChunkVectors(vectors, text_vectors, tokens, int(offsets[-1]), encoded)


class _Plan:
    """What is to be encoded, and where each chunk's vectors will be found."""

    def __init__(
        self, spec: EmbedderSpec, topic_limit: int, book: VectorBook, known: KnownChunks | None
    ) -> None:
        self._spec = spec
        self._topic_limit = topic_limit
        self._known = known
        self.book = book
        self.jobs: dict[bytes, _Job] = {}

    def whole(self, chunk: Chunk) -> _Chunk:
        """Topic + text of a chunk."""
        row = self._known.row(chunk) if self._known else None
        if self._known is not None and row is not None:
            return KnownChunk(self._known, row)
        made = embedded_with_map(chunk.topic, chunk.text, self._topic_limit)
        key = text_key(self._spec, made.text)
        self.jobs[key] = _Job(key, made.text, with_tokens=True)
        return _BookChunk(self.book, key, chunk, self._topic_limit)

    def alone(self, chunk: Chunk, whole: _Chunk) -> _Text:
        """The text of a chunk without its topic."""
        row = self._known.text_row(chunk.text) if self._known else None
        if self._known is not None and row is not None:
            return KnownText(self._known, row)
        made = embedded_with_map(chunk.topic, chunk.text, self._topic_limit)
        if not made.offset:
            return whole
        key = text_key(self._spec, made.body.text)
        self.jobs.setdefault(key, _Job(key, made.body.text, with_tokens=False))
        return _BookText(self.book, key)


def _carry_out(plan: _Plan, embedder: Embedder, progress: Progress | None) -> int:
    """Encode what the book lacks; how many chunks that were."""
    jobs, book = plan.jobs.values(), plan.book
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
        if with_tokens and packed is None:  # an embedder that has none: no tokens are known, not unknown ones
            packed = np.zeros((0, encoded.vectors.shape[1]), np.int8), np.zeros((0, 2), np.int32)
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
