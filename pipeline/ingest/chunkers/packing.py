"""Units filled into chunks, one after the other, each checked as it will be embedded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.ingest.chunkers.body import Body, Range
from pipeline.ingest.chunkers.units import Unit, cut

__all__ = ["pack"]


def pack(body: Body, units: Sequence[Unit], budget: int, overlap: int = 0) -> Iterator[Range]:
    """Chunks of like size, none over the budget; neighbours share whole units as the overlap allows.

    Args:
        body: The block.
        units: Its pieces in order, each within the budget by count.
        budget: Tokens of a chunk at most.
        overlap: Tokens that neighbours share at most.
    """
    pending = list(units)
    tokens = body.count(pending[0].start, pending[-1].end) if pending else 0
    target = _even_size(tokens, budget, overlap)
    first = 0
    while first < len(pending):
        after = _filled(pending, first, target, budget)
        while not body.fits(pending[first].start, pending[after - 1].end, budget):
            if after > first + 1:
                after -= 1
                continue
            # Cut apart, a text may have a token more than inside its sentence; cut it smaller.
            parts = cut(body, pending[first], max(pending[first].tokens - 2, 1))
            if len(parts) == 1:
                break  # one grapheme, or a text without tokens: there is nothing left to cut
            pending[first : first + 1] = parts
        yield pending[first].start, pending[after - 1].end
        first = _next_first(pending, first, after, budget, overlap)


def _even_size(tokens: int, budget: int, overlap: int) -> int:
    """Tokens to aim at, so that the last chunk of a block is no crumb."""
    if tokens <= budget:
        return budget
    shared = min(overlap, budget // 2)
    chunks = -(-(tokens - shared) // max(budget - shared, 1))
    return -(-(tokens + (chunks - 1) * shared) // chunks)


def _filled(units: Sequence[Unit], first: int, target: int, budget: int) -> int:
    """How far the units from ``first`` fill a chunk: the number after the last one."""
    after, size = first + 1, units[first].tokens
    while after < len(units) and size < target and size + units[after].tokens <= budget:
        size += units[after].tokens
        after += 1
    return after


def _next_first(units: Sequence[Unit], first: int, after: int, budget: int, overlap: int) -> int:
    """Where the next chunk begins: so many whole units back as the overlap allows."""
    if after >= len(units):
        return after
    begin, shared = after, 0
    room = min(overlap, budget - units[after].tokens)
    while begin - 1 > first and units[begin - 1].whole and shared + units[begin - 1].tokens <= room:
        begin -= 1
        shared += units[begin].tokens
    return begin
