"""Words in the place of token vectors, where an embedder gives none.

A remote embedder gives one vector a text. What looks at a passage from inside (sentence choice, refusal,
contradictions, the page's word by word) then compares words: the vectors of two words are equal if their
stems are, else nearly at right angles.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pipeline.text.function_words import function_terms
from pipeline.text.stems import keyword_terms
from pipeline.types import Chunk, FloatMatrix, IntMatrix, TokenVectors

__all__ = ["WORD_DIMENSION", "WordTokens", "WordVectors", "question_words", "word_vectors"]

WORD_DIMENSION = 256
"""Random vectors of so many signs have cosines of 0 +- 0.06."""

_WORD = re.compile(r"[^\W_]+(?:[-._/+'’][^\W_]+)*")
_CACHED_WORDS = 16_384


@dataclass(frozen=True, slots=True)
class WordVectors(TokenVectors):
    """Vectors of words, to be compared with each other only."""


@dataclass(frozen=True, slots=True)
class WordTokens:
    """A `pipeline.index.TokenStore` that is read from the chunks when asked for."""

    chunks: Sequence[Chunk]

    def __len__(self) -> int:
        return len(self.chunks)

    def __getitem__(self, row: int) -> TokenVectors:
        """The words of topic and text; one of the topic has the span (-1, -1)."""
        chunk = self.chunks[row]
        topic, text = word_vectors(chunk.topic), word_vectors(chunk.text)
        return WordVectors(
            np.concatenate([topic.vectors, text.vectors]),
            np.concatenate([np.full_like(topic.spans, -1), text.spans]),
        )


def word_vectors(text: str) -> WordVectors:
    """Every word of a text."""
    return _of([match.span() for match in _WORD.finditer(text)], text)


def question_words(text: str) -> WordVectors:
    """The words of a question that say what it is about; all of them where none does."""
    spans = [match.span() for match in _WORD.finditer(text)]
    telling = [span for span in spans if not function_terms().issuperset(keyword_terms(text[slice(*span)]))]
    return _of(telling or spans, text)


def _of(spans: Sequence[tuple[int, int]], text: str) -> WordVectors:
    vectors = [_vector(text[start:end].casefold()) for start, end in spans]
    matrix = np.stack(vectors) if vectors else np.zeros((0, WORD_DIMENSION), np.float32)
    places: IntMatrix = np.array(spans, np.int32).reshape(-1, 2)
    return WordVectors(matrix, places)


@lru_cache(maxsize=_CACHED_WORDS)
def _vector(word: str) -> FloatMatrix:
    terms = keyword_terms(word) or [word]
    vector = np.sum([_signs(term) for term in terms], axis=0, dtype=np.float32)
    return np.asarray(vector / (np.linalg.norm(vector) or 1.0), dtype=np.float32)


def _signs(term: str) -> FloatMatrix:
    digest = hashlib.shake_256(term.encode("utf-8", "replace")).digest(WORD_DIMENSION // 8)
    return np.unpackbits(np.frombuffer(digest, np.uint8)).astype(np.float32) * 2.0 - 1.0
