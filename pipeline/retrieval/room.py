"""Everything in document order, cut to what a prompt has room for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pipeline.ports import Embedder
from pipeline.snapshot import Excerpt
from pipeline.text.embedded import embedded_text

__all__ = ["Room", "fitting"]

PROMPT_TOKENS = 3840
"""What the prompt may have with the default settings of the generator."""

FENCE_TOKENS = 12
"""What stands around each source in the prompt."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a prompt has room for.

    Attributes:
        tokens: For the sources.
        count: Tokens of a text.
    """

    tokens: int
    count: Callable[[str], int]

    @classmethod
    def of(cls, embedder: Embedder, tokens: int = PROMPT_TOKENS) -> Room:
        """Counted by an embedder, where no generator is at hand."""
        return cls(tokens, lambda text: len(embedder.token_spans(text)))

    @property
    def chunks(self) -> int:
        """More chunks than this never fit, however short they are."""
        return max(self.tokens // FENCE_TOKENS, 1)


def fitting(found: Excerpt, room: Room) -> Excerpt:
    """The first finds, as many as fit; the first of all in any case, for the prompt can cut it."""
    used, rows = 0, found.pool.rows
    for place, row in enumerate(rows):
        used += FENCE_TOKENS + room.count(embedded_text(found.index.chunks[row]))
        if used > room.tokens:
            return _first(found, max(place, 1))
    return found


def _first(found: Excerpt, count: int) -> Excerpt:
    pool = found.pool
    cut = replace(
        pool,
        rows=pool.rows[:count],
        cosine=pool.cosine[:count],
        keyword=pool.keyword[:count],
        fused=pool.fused[:count],
    )
    return replace(found, pool=cut)
