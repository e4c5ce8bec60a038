"""Vectors under keys of the texts they were made of, so that no text is encoded twice."""

from __future__ import annotations

import hashlib
from typing import Protocol

from pipeline.ports import EmbedderSpec
from pipeline.stores.token_store import QuantisedText
from pipeline.types import FloatMatrix

__all__ = ["MemoryBook", "VectorBook", "text_key"]


def text_key(spec: EmbedderSpec, text: str) -> bytes:
    """32 bytes that stand for a text encoded as a passage by this embedder."""
    head = f"{spec.id}\0{spec.prefix_scheme}\0{spec.dimension}\0"
    return hashlib.sha256(head.encode() + text.encode("utf-8", "surrogatepass")).digest()


class VectorBook(Protocol):
    """Keeps what an embedder gave for each text."""

    def has(self, key: bytes, *, with_tokens: bool) -> bool:
        """True if the text's vector is here, and, where asked for, its tokens too."""
        ...

    def put(self, key: bytes, vector: FloatMatrix, tokens: QuantisedText | None) -> None:
        """Keep a vector of shape (dimension,); token spans are those of the embedded text."""
        ...

    def vector(self, key: bytes) -> FloatMatrix:
        """The vector of a text that is here, shape (dimension,)."""
        ...

    def tokens(self, key: bytes) -> QuantisedText:
        """The tokens of a text that is here with them."""
        ...

    def count(self, key: bytes) -> int:
        """How many tokens that text has."""
        ...

    def flush(self) -> None:
        """Make sure that what was put survives a crash, where this book can."""
        ...


class MemoryBook:
    """A `VectorBook` that lives as long as the process."""

    def __init__(self) -> None:
        self._kept: dict[bytes, tuple[FloatMatrix, QuantisedText | None]] = {}

    def has(self, key: bytes, *, with_tokens: bool) -> bool:
        """See `VectorBook`."""
        found = self._kept.get(key)
        return found is not None and (found[1] is not None or not with_tokens)

    def put(self, key: bytes, vector: FloatMatrix, tokens: QuantisedText | None) -> None:
        """See `VectorBook`."""
        self._kept[key] = (vector, tokens)

    def vector(self, key: bytes) -> FloatMatrix:
        """See `VectorBook`."""
        return self._kept[key][0]

    def tokens(self, key: bytes) -> QuantisedText:
        """See `VectorBook`."""
        tokens = self._kept[key][1]
        if tokens is None:
            raise KeyError(key)
        return tokens

    def count(self, key: bytes) -> int:
        """See `VectorBook`."""
        return len(self.tokens(key)[0])

    def flush(self) -> None:
        """Nothing here survives a crash."""
