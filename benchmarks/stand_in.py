"""A knowledge base of any size, and an embedder that takes no time, for measuring all the rest.

Vectors are random, so what a search finds means nothing; files, passages, tokens and the index are as
large as those of a real embedder, and made by the product's own indexing.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from synthetic import CHUNKS_A_DOCUMENT, make_documents

from pipeline.ports import EmbedderSpec, Progress
from pipeline.types import Encoded, FloatMatrix, IntMatrix, Role, TokenVectors

__all__ = ["StandIn", "write_texts"]

_PIECE = re.compile(r"\w{1,4}|[^\w\s]")  # as many a word as a multilingual vocabulary has
_NOISE_ROWS = 1 << 15


def write_texts(folder: Path, chunks: int, each: int = CHUNKS_A_DOCUMENT) -> int:
    """Write text files with ``chunks`` topics in all, ``each`` a file; how many characters that are."""
    characters = 0
    for document in make_documents(chunks, each):
        file = folder / document.file
        file.parent.mkdir(parents=True, exist_ok=True)
        topics = document.text.split("\n")
        text = "\n".join(f"[Тема] {document.title}, часть {n}\n{topic}" for n, topic in enumerate(topics, 1))
        file.write_text(text, encoding="utf-8")
        characters += len(text)
    return characters


class StandIn:
    """Random vectors, always the same ones for a text, at the price of copying them.

    Args:
        spec: Whom it stands in for.
    """

    def __init__(self, spec: EmbedderSpec) -> None:
        self._spec = spec
        rows = np.random.default_rng(5).standard_normal((_NOISE_ROWS, spec.dimension), dtype=np.float32)
        self._noise: FloatMatrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)

    @property
    def spec(self) -> EmbedderSpec:
        """Who this stands in for."""
        return self._spec

    def encode(
        self,
        texts: Sequence[str],
        role: Role,
        *,
        with_tokens: bool = False,
        progress: Progress | None = None,
    ) -> Encoded:
        """See `pipeline.ports.Embedder`."""
        del role
        numbers = [zlib.crc32(text.encode()) for text in texts]
        made = [np.random.default_rng(number).standard_normal(self._spec.dimension) for number in numbers]
        vectors = np.array(made, dtype=np.float32).reshape(len(texts), self._spec.dimension)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        if progress is not None:
            progress(len(texts), len(texts))
        pairs = zip(numbers, texts, strict=True)
        tokens = tuple(self._tokens(*pair) for pair in pairs) if with_tokens else None
        return Encoded(vectors, tokens)

    def token_spans(self, text: str) -> IntMatrix:
        """Character ranges of pieces of words."""
        return np.array([match.span() for match in _PIECE.finditer(text)], np.int32).reshape(-1, 2)

    def _tokens(self, number: int, text: str) -> TokenVectors:
        spans = self.token_spans(text)
        first = number % (_NOISE_ROWS - len(spans))
        return TokenVectors(self._noise[first : first + len(spans)], spans)
