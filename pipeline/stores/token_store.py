"""Token vectors of every chunk in one byte a number.

A row is stored as ``round(127 * v / max|v|)``; read back it is scaled to length 1 again, so the
only error is rounding (cosine with the original above 0.999 for the embedders in use).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.types import FloatMatrix, IntMatrix, TokenVectors

__all__ = [
    "GatheredTokens",
    "PackedTokens",
    "QuantisedText",
    "QuantisedTokens",
    "TokenBlock",
    "pack_tokens",
    "quantise",
    "scales_of",
    "starts_of",
]

QuantisedText = tuple[NDArray[np.int8], IntMatrix]
"""Bytes (tokens, dimension) and spans (tokens, 2) of one chunk."""

TokenBlock = tuple[NDArray[np.int8], IntMatrix, NDArray[np.float32]]
"""Bytes (tokens, dimension), spans (tokens, 2) and scales (tokens,) of some tokens in a row."""

_BLOCK = 16384  # tokens


def quantise(vectors: FloatMatrix) -> NDArray[np.int8]:
    """Rows as bytes, the largest magnitude of each row becoming 127; a zero row stays zero."""
    peaks = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scaled = vectors * (127.0 / np.where(peaks > 0, peaks, 1.0))
    return np.rint(scaled).astype(np.int8)


class PackedTokens(Protocol):
    """A `pipeline.index.TokenStore` whose bytes can be copied as they are."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Shape (chunks + 1,): where each chunk's tokens begin."""
        ...

    def __len__(self) -> int:
        """Number of chunks."""
        ...

    def __getitem__(self, row: int) -> TokenVectors:
        """Token vectors of a chunk."""
        ...

    def quantised(self, row: int) -> QuantisedText:
        """The bytes and spans of a chunk."""
        ...

    def blocks(self, first: int, after: int) -> Iterator[TokenBlock]:
        """The tokens of the chunks ``first`` to ``after - 1`` in order, in pieces of a bounded size."""
        ...


@dataclass(frozen=True, slots=True)
class QuantisedTokens:
    """A `PackedTokens` over four arrays, in memory or mapped from files.

    Attributes:
        values: int8, shape (all tokens, dimension).
        scales: float32, shape (all tokens,): factor that gives a row length 1.
        spans: int32, shape (all tokens, 2): offsets into the chunk's text, (-1, -1) in the topic.
        offsets: int64, shape (chunks + 1,): where each chunk's tokens begin.
    """

    values: NDArray[np.int8]
    scales: NDArray[np.float32]
    spans: IntMatrix
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> TokenVectors:
        """Token vectors of a chunk."""
        begin, end = self._range(row)
        vectors = self.values[begin:end].astype(np.float32)
        vectors *= self.scales[begin:end, None]
        return TokenVectors(vectors, np.asarray(self.spans[begin:end]))

    def quantised(self, row: int) -> QuantisedText:
        """The bytes and spans of a chunk."""
        begin, end = self._range(row)
        return self.values[begin:end], self.spans[begin:end]

    def fits(self, dimension: int) -> bool:
        """True if the four arrays can belong to each other."""
        count = len(self.values)
        shapes = self.values.shape == (count, dimension) and self.spans.shape == (count, 2)
        ends = int(self.offsets[0]) == 0 and int(self.offsets[-1]) == count == len(self.scales)
        return shapes and ends and bool((np.diff(self.offsets) >= 0).all())

    def scaled(self, row: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """The bytes of a chunk, and what gives its rows length 1."""
        begin, end = self._range(row)
        return self.values[begin:end], self.scales[begin:end]

    def blocks(self, first: int, after: int) -> Iterator[TokenBlock]:
        """See `PackedTokens`."""
        end = int(self.offsets[after])
        for begin in range(int(self.offsets[first]), end, _BLOCK):
            piece = slice(begin, min(begin + _BLOCK, end))
            yield self.values[piece], self.spans[piece], self.scales[piece]

    def _range(self, row: int) -> tuple[int, int]:
        if not 0 <= row < len(self):
            raise IndexError(row)
        return int(self.offsets[row]), int(self.offsets[row + 1])


@dataclass(frozen=True, slots=True)
class GatheredTokens:
    """A `PackedTokens` whose rows lie in different places.

    Attributes:
        offsets: int64, shape (chunks + 1,): where each chunk's tokens would begin if joined.
        fetch: Row -> its bytes and spans.
        known: Tokens of other chunks, some of which come again here.
        known_rows: int64, shape (chunks,): the row in ``known`` of the same chunk, or -1.
    """

    offsets: NDArray[np.int64]
    fetch: Callable[[int], QuantisedText]
    known: PackedTokens | None
    known_rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> TokenVectors:
        """Token vectors of a chunk."""
        values, spans = self.quantised(row)
        return TokenVectors(values.astype(np.float32) * scales_of(values)[:, None], spans)

    def quantised(self, row: int) -> QuantisedText:
        """The bytes and spans of a chunk."""
        if not 0 <= row < len(self):
            raise IndexError(row)
        return self.fetch(row)

    def scaled(self, row: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """The bytes of a chunk, and what gives its rows length 1."""
        values, _ = self.quantised(row)
        return values, scales_of(values)

    def blocks(self, first: int, after: int) -> Iterator[TokenBlock]:
        """See `PackedTokens`. Known chunks that follow each other are taken together."""
        # Where a row does not follow, in ``known``, on the row before it.
        breaks = first + 1 + np.flatnonzero(np.diff(self.known_rows[first:after]) != 1)
        row = first
        while row < after:
            source = int(self.known_rows[row])
            if source < 0 or self.known is None:
                values, spans = self.fetch(row)
                yield values, spans, scales_of(values)
                row += 1
                continue
            place = int(np.searchsorted(breaks, row, side="right"))
            end = int(breaks[place]) if place < len(breaks) else after
            yield from self.known.blocks(source, source + end - row)
            row = end


def pack_tokens(texts: Sequence[QuantisedText], dimension: int) -> QuantisedTokens:
    """Join the tokens of all chunks, in row order."""
    values = np.concatenate([np.zeros((0, dimension), np.int8), *(values for values, _ in texts)])
    spans = np.concatenate([np.zeros((0, 2), np.int32), *(spans for _, spans in texts)])
    offsets = starts_of([len(values) for values, _ in texts])
    return QuantisedTokens(values, scales_of(values), spans.astype(np.int32), offsets)


def starts_of(lengths: Sequence[int]) -> NDArray[np.int64]:
    """Where each of several stretches begins, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def scales_of(values: NDArray[np.int8]) -> NDArray[np.float32]:
    """The factor that gives each row length 1; float32, shape (tokens,)."""
    scales = np.empty(len(values), dtype=np.float32)
    for begin in range(0, len(values), 65536):  # in slices, so that no float copy of everything is made
        part = values[begin : begin + 65536].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", part, part))
        scales[begin : begin + 65536] = 1.0 / np.where(lengths > 0, lengths, 1.0)
    return scales
