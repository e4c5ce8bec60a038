"""Vectors of chunks: two a chunk, and its token vectors, in memory-bounded slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.ports import Embedder, Progress
from pipeline.stores.token_store import QuantisedText, QuantisedTokens, pack_tokens, quantise
from pipeline.text.embedded import EmbeddedText, embedded_with_map
from pipeline.types import Chunk, FloatMatrix

__all__ = ["ChunkVectors", "encode_chunks"]

_SLICE = 128  # chunks a call: their float32 token vectors are the peak of memory


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """Vectors of topic + text, of the text alone, the tokens of the first, and the tokens encoded."""

    vectors: FloatMatrix
    text_vectors: FloatMatrix
    tokens: QuantisedTokens
    encoded_tokens: int


def encode_chunks(
    chunks: Sequence[Chunk],
    embedder: Embedder,
    topic_limit: int,
    progress: Progress | None = None,
    *,
    texts_alone: bool = True,
) -> ChunkVectors:
    """Encode chunks as passages.

    Texts are taken by length, so that little padding is computed. A chunk without a topic is
    encoded once and has two equal vectors.

    Args:
        chunks: In row order.
        embedder: Adds the passage prefix itself.
        topic_limit: Characters of a topic that are embedded.
        progress: Called with (characters done, characters in all).
        texts_alone: False leaves ``text_vectors`` zero, for a rebuild of token vectors only.
    """
    made = [embedded_with_map(chunk.topic, chunk.text, topic_limit) for chunk in chunks]
    alone = [row for row, text in enumerate(made) if texts_alone and text.offset]
    total = sum(len(text.text) for text in made) + sum(len(made[row].body.text) for row in alone)
    count = _Counter(progress, total)
    shape = (len(chunks), embedder.spec.dimension)
    vectors = np.zeros(shape, dtype=np.float32)
    tokens: list[QuantisedText] = [(np.zeros((0, shape[1]), np.int8), np.zeros((0, 2), np.int32))] * len(made)
    for rows in _slices(made, range(len(made))):
        texts = [made[row].text for row in rows]
        encoded = embedder.encode(texts, "passage", with_tokens=True, progress=count.within(texts))
        vectors[rows] = encoded.vectors
        for row, of_text in zip(rows, encoded.tokens or (), strict=True):
            tokens[row] = (quantise(of_text.vectors), made[row].spans_in_chunk(of_text.spans))
        count.add(texts)
    text_vectors = vectors.copy() if texts_alone else np.zeros(shape, dtype=np.float32)
    for rows in _slices(made, alone):
        texts = [made[row].body.text for row in rows]
        text_vectors[rows] = embedder.encode(texts, "passage", progress=count.within(texts)).vectors
        count.add(texts)
    packed = pack_tokens(tokens, shape[1])
    return ChunkVectors(vectors, text_vectors, packed, len(packed.values))


def _slices(made: Sequence[EmbeddedText], rows: Sequence[int]) -> list[list[int]]:
    ordered = sorted(rows, key=lambda row: (-len(made[row].text), row))
    return [ordered[begin : begin + _SLICE] for begin in range(0, len(ordered), _SLICE)]


class _Counter:
    """Characters encoded so far, told to the caller; they only grow."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self._told = 0

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
