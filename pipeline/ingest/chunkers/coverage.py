"""Text that lies in no chunk: a measure that nothing was lost."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from pipeline.types import Block, Chunk, Document

__all__ = ["uncovered_pieces"]


def uncovered_pieces(documents: Iterable[Document], chunks: Iterable[Chunk]) -> Iterator[str]:
    """Pieces of block text without a chunk, blank ones left out (case 15)."""
    ranges: dict[str, list[tuple[int, int]]] = {}
    for chunk in chunks:
        ranges.setdefault(chunk.document_id, []).append((chunk.start, chunk.end))
    for document in documents:
        covered = sorted(ranges.get(document.id, []))
        for block in document.blocks:
            pieces = (document.text[start:end].strip() for start, end in _uncovered(block, covered))
            yield from filter(None, pieces)


def _uncovered(block: Block, covered: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Stretches of a block without a chunk; ``covered`` is sorted, and no chunk begins before its block."""
    position = block.start
    for place in range(bisect_left(covered, (block.start, 0)), len(covered)):
        start, end = covered[place]
        if start >= block.end:
            break
        if start > position:
            yield position, start
        position = max(position, end)
    if position < block.end:
        yield position, block.end
