"""A question and a passage as one input of a cross-encoder, in windows where they don't fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.models.onnx_folder import well_formed

if TYPE_CHECKING:
    from tokenizers import Encoding

    from pipeline.models.quick_tokenizer import TextCoder

__all__ = ["Pair", "PairTokenizer"]


class Pair(NamedTuple):
    """One run of a cross-encoder: token numbers and token types, int64, (tokens,)."""

    ids: NDArray[np.int64]
    types: NDArray[np.int64]


class PairTokenizer:
    """Joins a question and a passage; what is too long is read in windows, never cut off.

    Args:
        tokenizer: It must neither cut nor pad.
        positions: Most tokens the model takes, specials included.
    """

    def __init__(self, tokenizer: TextCoder, positions: int) -> None:
        self._tokenizer = tokenizer
        self._room = positions - tokenizer.num_special_tokens_to_add(is_pair=True)

    def __call__(self, question: str, passage: str) -> list[list[Pair]]:
        """All windows of the passage, for each window of the question.

        A question has one window unless it fills more than half of the model's room. Neighbouring
        windows share a quarter, so that no sentence is seen only in halves.
        """
        asked = self._windows(question, self._room // 2)
        rest = self._room - max(len(window.ids) for window in asked)
        told = self._windows(passage, rest)
        return [[self._join(first, second) for second in told] for first in asked]

    def _windows(self, text: str, size: int) -> list[Encoding]:
        encoding = self._tokenizer.encode(well_formed(text), add_special_tokens=False)
        encoding.truncate(size, stride=size // 4)
        return [encoding, *encoding.overflowing]

    def _join(self, question: Encoding, passage: Encoding) -> Pair:
        joined = self._tokenizer.post_process(question, passage, add_special_tokens=True)
        return Pair(np.array(joined.ids, np.int64), np.array(joined.type_ids, np.int64))
