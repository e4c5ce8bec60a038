"""An embedder whose every number can be worked out by hand, and which remembers what it was given.

A token is up to six letters of a word, or one other sign; its vector is a hash of its lower case.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from pipeline.errors import TextTooLongError
from pipeline.ports import EmbedderSpec, Progress
from pipeline.types import Encoded, FloatMatrix, IntMatrix, Role, TokenVectors

_TOKEN = re.compile(r"\w{1,6}|[^\w\s]")


class WordEmbedder:
    """See `pipeline.ports.Embedder`."""

    def __init__(self, dimension: int = 16, limit: int = 506, name: str = "words") -> None:
        self.spec = EmbedderSpec(name, dimension, "e5", limit)
        self.seen: list[tuple[Role, str]] = []

    def token_spans(self, text: str) -> IntMatrix:
        spans = [match.span() for match in _TOKEN.finditer(text)]
        return np.array(spans, dtype=np.int32).reshape(-1, 2)

    def encode(
        self, texts: Sequence[str], role: Role, *, with_tokens: bool = False, progress: Progress | None = None
    ) -> Encoded:
        vectors = np.zeros((len(texts), self.spec.dimension), dtype=np.float32)
        tokens: list[TokenVectors] = []
        for row, text in enumerate(texts):
            self.seen.append((role, text))
            spans = self.token_spans(text)
            if len(spans) > self.spec.token_limit:
                raise TextTooLongError(tokens=len(spans), limit=self.spec.token_limit)
            words = [self._vector(text[start:end]) for start, end in spans] or [self._vector("")]
            total = np.sum(words, axis=0)
            vectors[row] = total / np.linalg.norm(total)
            tokens.append(TokenVectors(np.array(words, dtype=np.float32)[: len(spans)], spans))
            if progress is not None:
                progress(row + 1, len(texts))
        return Encoded(vectors, tuple(tokens) if with_tokens else None)

    def _vector(self, word: str) -> FloatMatrix:
        digest = hashlib.blake2b(word.lower().encode(), digest_size=self.spec.dimension).digest()
        vector = np.frombuffer(digest, dtype=np.int8).astype(np.float32)
        return vector / np.float32(np.linalg.norm(vector))
