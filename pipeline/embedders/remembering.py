"""An embedder that remembers the questions asked last.

The page searches while a person types and asks for the answer with the same words; a form repeats its
questions. What costs most of a search, the run of the model, is then done already.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pipeline.ports import Closable, Embedder, EmbedderSpec, Progress
from pipeline.types import Encoded, IntMatrix, Role

__all__ = ["RememberingEmbedder"]

_QUESTIONS = 256
_LONGEST = 500  # characters; 30 KB of token vectors for each 20 tokens


class RememberingEmbedder:
    """The same vectors as the embedder it wraps; those of short questions may be read-only.

    Safe to use from many threads if that one is.

    Args:
        embedder: Encodes what is not remembered.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._remembered = lru_cache(_QUESTIONS)(self._encoded)

    @property
    def spec(self) -> EmbedderSpec:
        """Who this is."""
        return self._embedder.spec

    def encode(
        self,
        texts: Sequence[str],
        role: Role,
        *,
        with_tokens: bool = False,
        progress: Progress | None = None,
    ) -> Encoded:
        """See `pipeline.ports.Embedder`."""
        if role == "query" and len(texts) == 1 and len(texts[0]) <= _LONGEST and progress is None:
            encoded = self._remembered(texts[0])
            return encoded if with_tokens else Encoded(encoded.vectors)
        return self._embedder.encode(texts, role, with_tokens=with_tokens, progress=progress)

    def token_spans(self, text: str) -> IntMatrix:
        """Character ranges of the text's tokens, whatever its length."""
        return self._embedder.token_spans(text)

    def close(self) -> None:
        """Close the embedder, if there is anything to close."""
        embedder: object = self._embedder
        if isinstance(embedder, Closable):
            embedder.close()

    def _encoded(self, text: str) -> Encoded:
        encoded = self._embedder.encode([text], "query", with_tokens=True)
        arrays = [
            encoded.vectors,
            *(array for one in encoded.tokens or () for array in (one.vectors, one.spans)),
        ]
        for array in arrays:
            array.flags.writeable = False  # everybody who asks the same gets the same arrays
        return encoded
