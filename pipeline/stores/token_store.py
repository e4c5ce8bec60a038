"""Token vectors of every chunk in one byte a number.

A row is stored as ``round(127 * v / max|v|)``; read back it is scaled to length 1 again, so the
only error is rounding (cosine with the original above 0.999 for the embedders in use).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.types import FloatMatrix, IntMatrix, TokenVectors

__all__ = ["QuantisedTokens", "pack_tokens", "quantise"]

QuantisedText = tuple[NDArray[np.int8], IntMatrix]
"""Bytes (tokens, dimension) and spans (tokens, 2) of one chunk."""


def quantise(vectors: FloatMatrix) -> NDArray[np.int8]:
    """Rows as bytes, the largest magnitude of each row becoming 127; a zero row stays zero."""
    peaks = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scaled = vectors * (127.0 / np.where(peaks > 0, peaks, 1.0))
    return np.rint(scaled).astype(np.int8)


@dataclass(frozen=True, slots=True)
class QuantisedTokens:
    """A `pipeline.index.TokenStore` over four arrays, in memory or mapped from files.

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
        if not 0 <= row < len(self):
            raise IndexError(row)
        begin, end = int(self.offsets[row]), int(self.offsets[row + 1])
        vectors = self.values[begin:end].astype(np.float32)
        vectors *= self.scales[begin:end, None]
        return TokenVectors(vectors, np.asarray(self.spans[begin:end]))


def pack_tokens(texts: Sequence[QuantisedText], dimension: int) -> QuantisedTokens:
    """Join the tokens of all chunks, in row order."""
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(values) for values, _ in texts], out=offsets[1:])
    values = np.concatenate([np.zeros((0, dimension), np.int8), *(values for values, _ in texts)])
    spans = np.concatenate([np.zeros((0, 2), np.int32), *(spans for _, spans in texts)])
    return QuantisedTokens(values, _scales(values), spans.astype(np.int32), offsets)


def _scales(values: NDArray[np.int8]) -> NDArray[np.float32]:
    scales = np.empty(len(values), dtype=np.float32)
    for begin in range(0, len(values), 65536):  # in slices, so that no float copy of everything is made
        part = values[begin : begin + 65536].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", part, part))
        scales[begin : begin + 65536] = 1.0 / np.where(lengths > 0, lengths, 1.0)
    return scales
