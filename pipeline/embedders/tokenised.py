"""From a text to token numbers, and back from tokens to places in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.embedders.prefixes import PrefixScheme, prefix
from pipeline.errors import TextTooLongError
from pipeline.models.onnx_folder import well_formed
from pipeline.types import FloatMatrix, IntMatrix, Role

if TYPE_CHECKING:
    from pipeline.models.quick_tokenizer import TextCoder

__all__ = ["TextTokenizer", "Tokenised", "text_rows", "unit_rows"]


@dataclass(frozen=True, slots=True)
class Tokenised:
    """One text as a model gets it.

    Attributes:
        ids: int64, (tokens,): specials, prefix and text.
        types: int64, (tokens,): token types.
        rows: int64, (text tokens,): which of the tokens are the text's own.
        spans: int32, (text tokens, 2): their character ranges in the text.
    """

    ids: NDArray[np.int64]
    types: NDArray[np.int64]
    rows: NDArray[np.int64]
    spans: IntMatrix


class TextTokenizer:
    """Adds the prefix, once, and tokenises.

    A lone surrogate counts as U+FFFD, a NUL as nothing; neither moves an offset.

    Args:
        tokenizer: It must neither cut nor pad.
        scheme: Which prefixes the model wants.
        positions: Most tokens the model takes, prefix and specials included.
    """

    limit: int
    """Most tokens of a text, prefix and specials already taken off."""

    def __init__(self, tokenizer: TextCoder, scheme: PrefixScheme, positions: int) -> None:
        self._tokenizer = tokenizer
        self._scheme = scheme
        self._positions = positions
        # The space between prefix and text may be a token of its own, as it is before an empty text.
        samples = [self(text, role) for role in ("query", "passage") for text in ("", "a")]
        self.limit = positions - max(len(sample.ids) - len(sample.rows) for sample in samples)

    def __call__(self, text: str, role: Role) -> Tokenised:
        """Tokenise a text of any length."""
        before = prefix(self._scheme, role)
        encoding = self._tokenizer.encode(before + well_formed(text))
        rows, spans = text_rows(text, encoding.offsets, encoding.special_tokens_mask, len(before))
        return Tokenised(np.array(encoding.ids, np.int64), np.array(encoding.type_ids, np.int64), rows, spans)

    def checked(self, text: str, role: Role) -> Tokenised:
        """Tokenise a text that must fit.

        Raises:
            TextTooLongError: It has more than ``limit`` tokens.
        """
        tokenised = self(text, role)
        if len(tokenised.rows) > self.limit or len(tokenised.ids) > self._positions:
            raise TextTooLongError(tokens=len(tokenised.rows), limit=self.limit)
        return tokenised


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
