"""What an earlier index knows of chunks that come again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.index import Index
from pipeline.stores.token_store import PackedTokens, QuantisedText
from pipeline.types import Chunk, FloatMatrix

__all__ = ["KnownChunk", "KnownChunks", "KnownText"]


class KnownChunks:
    """Rows of an index, found by what was embedded and counted: topic and text.

    Args:
        index: The earlier index.
        tokens: Its token vectors.
    """

    def __init__(self, index: Index, tokens: PackedTokens) -> None:
        self.index = index
        self.tokens = tokens
        self._rows = {(chunk.topic, chunk.text): row for row, chunk in enumerate(index.chunks)}
        self._texts = {chunk.text: row for row, chunk in enumerate(index.chunks)}

    def row(self, chunk: Chunk) -> int | None:
        """A row with the same topic and text."""
        return self._rows.get((chunk.topic, chunk.text))

    def text_row(self, text: str) -> int | None:
        """A row with the same text, under any topic."""
        return self._texts.get(text)


@dataclass(frozen=True, slots=True)
class KnownChunk:
    """Vector and tokens of topic + text of a known row."""

    known: KnownChunks
    row: int

    def vector(self) -> FloatMatrix:
        """Shape (dimension,)."""
        return np.asarray(self.known.index.vectors[self.row])

    def count(self) -> int:
        """How many tokens there are."""
        begin, end = self.known.tokens.offsets[self.row : self.row + 2]
        return int(end - begin)

    def tokens(self) -> QuantisedText:
        """Token bytes, and their spans in the chunk's text."""
        return self.known.tokens.quantised(self.row)


@dataclass(frozen=True, slots=True)
class KnownText:
    """Vector of the text alone of a known row."""

    known: KnownChunks
    row: int

    def vector(self) -> FloatMatrix:
        """Shape (dimension,)."""
        return np.asarray(self.known.index.text_vectors[self.row])
