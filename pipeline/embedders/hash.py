"""A deterministic embedder without a model, so simple that its vectors can be worked out by hand.

Used by tests and demonstrations: texts that share words are near each other, nothing else is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.embedders.tokenised import unit_rows
from pipeline.errors import TextTooLongError
from pipeline.ports import EmbedderSpec, Progress
from pipeline.types import Encoded, IntMatrix, Role, TokenVectors

__all__ = ["HashEmbedder", "word_axis"]

_WORD = re.compile(r"\w+|[^\w\s]")


def word_axis(word: str, dimension: int) -> tuple[int, int]:
    """Where a word points: an axis and a sign, taken from the MD5 of its lower-case UTF-8 form.

    The axis is the first four bytes (big-endian) modulo ``dimension``, the sign +1 when the fifth
    byte is even, else -1.
    """
    # Surrogates cannot be encoded strictly, and a fake must take every text the real ones take.
    data = word.lower().encode("utf-8", "replace")
    digest = hashlib.md5(data, usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big") % dimension, 1 - 2 * (digest[4] % 2)


class HashEmbedder:
    """A text's vector is the sum of its words' axes at length 1; a text without words points along axis 0.

    Tokens are words and single punctuation marks; there is no prefix.

    Args:
        dimension: Length of the vectors.
        token_limit: Most words of a text.
    """

    def __init__(self, dimension: int = 64, token_limit: int = 507) -> None:
        self._spec = EmbedderSpec(f"hash/{dimension}", dimension, "none", token_limit)

    @property
    def spec(self) -> EmbedderSpec:
        """Who this is."""
        return self._spec

    def encode(
        self,
        texts: Sequence[str],
        role: Role,
        *,
        with_tokens: bool = False,
        progress: Progress | None = None,
    ) -> Encoded:
        """Encode texts; see `pipeline.ports.Embedder`.

        Raises:
            TextTooLongError: A text has more than ``spec.token_limit`` words.
        """
        del role  # a fake has no prefixes
        vectors = np.zeros((len(texts), self._spec.dimension), np.float32)
        tokens: list[TokenVectors] = []
        for row, text in enumerate(texts):
            spans = self.token_spans(text)
            if len(spans) > self._spec.token_limit:
                raise TextTooLongError(tokens=len(spans), limit=self._spec.token_limit)
            words = self._axes([text[start:end] for start, end in spans])
            vectors[row] = words.sum(axis=0)
            tokens.append(TokenVectors(words, spans))
            if progress is not None:
                progress(row + 1, len(texts))
        vectors[~vectors.any(axis=1), 0] = 1.0
        return Encoded(unit_rows(vectors), tuple(tokens) if with_tokens else None)

    def token_spans(self, text: str) -> IntMatrix:
        """Character ranges of the text's words."""
        return np.array([match.span() for match in _WORD.finditer(text)], np.int32).reshape(-1, 2)

    def _axes(self, words: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(words), self._spec.dimension), np.float32)
        for row, word in enumerate(words):
            axis, sign = word_axis(word, self._spec.dimension)
            rows[row, axis] = sign
        return rows
