"""What of an index deserves a second look: how long its blocks are, and what it holds twice."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from pipeline.index import Index
from pipeline.ingest.holdings import owner
from pipeline.plots.marks import duplicate_groups
from pipeline.ports import Embedder

__all__ = ["LargeBlock", "Review", "Reviewer"]


@dataclass(frozen=True, slots=True)
class LargeBlock:
    """A block over the limit, by its topic."""

    file: str
    topic: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Review:
    """Findings about one index.

    Attributes:
        kb_version: Which index.
        tokens: File -> tokens of its text.
        large: Blocks over the limit, the largest first.
        duplicates: Groups of passages that say the same, as chunk ids.
    """

    kb_version: str
    tokens: dict[str, int]
    large: tuple[LargeBlock, ...]
    duplicates: tuple[tuple[str, ...], ...]


class Reviewer:
    """Reviews an index once; documents that an earlier one held too are not counted again.

    Args:
        limit: Tokens over which a block is large.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._counts: dict[str, tuple[int, ...]] = {}
        self._last: Review | None = None

    def of(self, index: Index, embedder: Embedder) -> Review:
        """The review of an index; the embedder counts the tokens and encodes nothing."""
        if self._last is None or self._last.kb_version != index.manifest.build_id:
            self._last = self._reviewed(index, embedder)
        return self._last

    def _reviewed(self, index: Index, embedder: Embedder) -> Review:
        tokens: dict[str, int] = defaultdict(int)
        large: list[LargeBlock] = []
        counts: dict[str, tuple[int, ...]] = {}
        for key, document in index.documents.items():
            counts[key] = self._counts.get(key) or tuple(
                len(embedder.token_spans(document.text[block.start : block.end])) for block in document.blocks
            )
            file = owner(document.file, index.manifest.files)
            tokens[file] += sum(counts[key])
            large += [
                LargeBlock(file, block.topic or document.title, count)
                for block, count in zip(document.blocks, counts[key], strict=True)
                if count > self.limit
            ]
        self._counts = counts
        large.sort(key=lambda block: (-block.tokens, block.file, block.topic))
        return Review(index.manifest.build_id, dict(tokens), tuple(large), _duplicates(index))


def _duplicates(index: Index) -> tuple[tuple[str, ...], ...]:
    groups: dict[int, list[str]] = defaultdict(list)
    texts = [chunk.text for chunk in index.chunks]
    for chunk, group in zip(index.chunks, duplicate_groups(texts, index.text_vectors), strict=True):
        if group is not None:
            groups[group].append(chunk.id)
    return tuple(tuple(ids) for ids in groups.values())
