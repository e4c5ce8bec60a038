"""Which tokens of a run belong to the text itself, and where they stand in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.types import FloatMatrix, IntMatrix

__all__ = ["text_rows", "unit_rows"]


def text_rows(
    text: str, offsets: Sequence[tuple[int, int]], special: Sequence[int], prefix_length: int
) -> tuple[NDArray[np.int64], IntMatrix]:
    """Leave out special tokens and the prefix.

    Args:
        text: The text without its prefix.
        offsets: Character range of every token in prefix + text.
        special: 1 for a special token, else 0.
        prefix_length: Characters of the prefix.

    Returns:
        Row numbers of the text's tokens, (tokens,), and their ranges in the text, int32 (tokens, 2),
        without the spaces that many tokenizers count to the word behind them.
    """
    rows: list[int] = []
    spans: list[tuple[int, int]] = []
    for row, ((start, end), is_special) in enumerate(zip(offsets, special, strict=True)):
        if is_special or end <= prefix_length:
            continue
        rows.append(row)
        spans.append(_without_leading_space(text, max(start - prefix_length, 0), end - prefix_length))
    return np.array(rows, np.int64), np.array(spans, np.int32).reshape(-1, 2)


def unit_rows(vectors: FloatMatrix) -> FloatMatrix:
    """Rows scaled to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def _without_leading_space(text: str, start: int, end: int) -> tuple[int, int]:
    word = text[start:end]
    shift = len(word) - len(word.lstrip())
    return (start + shift, end) if shift < len(word) else (start, end)
