"""What a strategy is given and what it gives: the one port of all ways to cut a block."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pipeline.types import IntMatrix, TokenVectors

__all__ = ["Body", "Range", "Strategy"]

Range = tuple[int, int]
"""Start and end of a chunk in the block's text."""


@dataclass(frozen=True, slots=True)
class Body:
    """The text of one block, with what is known of its size.

    Attributes:
        text: The block's text.
        token_starts: int32, shape (tokens,): where its tokens begin, ascending.
        budget: Tokens of a chunk at most, as the settings say.
        room: Tokens that the embedder has left beside the topic; at least ``budget``.
        overlap: Tokens that neighbours share at most.
        fits: ``fits(start, end, tokens)`` is True if that stretch, embedded with its topic, has at most
            so many tokens of text and is within the embedder's limit.
        vectors: ``vectors(start, end)``: token vectors of a stretch that fits, spans in the block's text.
    """

    text: str
    token_starts: IntMatrix
    budget: int
    room: int
    overlap: int
    fits: Callable[[int, int, int], bool]
    vectors: Callable[[int, int], TokenVectors]

    def count(self, start: int, end: int) -> int:
        """Tokens that begin in a stretch; embedded alone it may have one or two more."""
        left, right = np.searchsorted(self.token_starts, (start, end))
        return int(right - left)


class Strategy(Protocol):
    """A way to cut a block."""

    def __call__(self, body: Body) -> Iterable[Range]:
        """Ranges in order; together they hold every non-space character.

        Each fits the embedder, except where a single visible character does not. Equal bodies are
        cut equally.
        """
        ...
