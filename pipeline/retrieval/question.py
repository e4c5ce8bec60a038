"""A question of any length as one vector and its token vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pipeline.errors import TextTooLongError
from pipeline.index import Index
from pipeline.ports import Embedder
from pipeline.text.word_tokens import WordTokens, WordVectors, question_words
from pipeline.types import FloatMatrix, TokenVectors

__all__ = ["encode_question", "windows", "with_words"]


def encode_question(text: str, embedder: Embedder) -> tuple[FloatMatrix, TokenVectors]:
    """Encode a question; one longer than the embedder's limit in windows, nothing of it cut.

    The vector of a question in windows is their mean weighted by tokens, of length 1 again; its
    token vectors are those of all windows, in order. Words take their place where the embedder has none.

    Returns:
        The vector, float32 of shape (dimension,), and the token vectors with spans in ``text``.
    """
    ranges = [(0, len(text))]
    try:
        encoded = embedder.encode([text], "query", with_tokens=True)
    except TextTooLongError:
        ranges = windows(text, embedder)
        encoded = embedder.encode([text[start:end] for start, end in ranges], "query", with_tokens=True)
    if encoded.tokens is None:
        return _mean(encoded.vectors, [end - start for start, end in ranges]), question_words(text)
    parts = encoded.tokens
    spans = [
        part.spans + np.int32(start) for (start, _), part in zip(ranges, parts, strict=True) if len(part)
    ]
    tokens = TokenVectors(
        np.concatenate([np.zeros((0, embedder.spec.dimension), np.float32), *(p.vectors for p in parts)]),
        np.concatenate([np.zeros((0, 2), np.int32), *spans]).astype(np.int32),
    )
    return _mean(encoded.vectors, [max(len(part), 1) for part in parts]), tokens


def with_words(index: Index, question: TokenVectors) -> Index:
    """The index whose token vectors can be compared with the question's: its words, where that is words."""
    if isinstance(question, WordVectors):
        return replace(index, tokens=WordTokens(index.chunks))
    return index


def windows(text: str, embedder: Embedder) -> list[tuple[int, int]]:
    """Character ranges that cover the text, each within the embedder's limit.

    A text that is too long is halved at the word border nearest to its middle token, until it fits.
    """
    return _halved(text, 0, len(text), embedder)


def _mean(vectors: FloatMatrix, weights: Sequence[int]) -> FloatMatrix:
    if len(vectors) == 1:
        return np.asarray(vectors[0])
    mean = np.average(vectors, axis=0, weights=weights)
    length = float(np.linalg.norm(mean))
    return (mean / (length or 1.0)).astype(np.float32)


def _halved(text: str, start: int, end: int, embedder: Embedder) -> list[tuple[int, int]]:
    spans = embedder.token_spans(text[start:end])
    if len(spans) <= embedder.spec.token_limit or end - start < 2:
        return [(start, end)]
    middle = start + max(int(spans[len(spans) // 2, 0]), 1)
    after, before = text.find(" ", middle, end - 1), text.rfind(" ", start, middle)
    borders = [place + 1 for place in (before, after) if place >= 0]
    cut = min(borders, key=lambda place: abs(place - middle), default=min(middle, end - 1))
    return _halved(text, start, cut, embedder) + _halved(text, cut, end, embedder)
