"""Topics too large to be one: a block over the limit usually holds several."""

from __future__ import annotations

from pipeline.health.finding import Finding, Say
from pipeline.index import Index
from pipeline.ports import Embedder

__all__ = ["check_blocks"]

_TOKENS_A_CHARACTER = 2  # no tokenizer gives more than a byte each, and Cyrillic has two a letter


def check_blocks(index: Index, embedder: Embedder, limit: int, say: Say) -> list[Finding]:
    """Blocks with more tokens than ``limit`` (setting ``index.large_block_tokens``), the largest first."""
    large: list[tuple[int, str]] = []
    for document in index.documents.values():
        for block in document.blocks:
            if (block.end - block.start) * _TOKENS_A_CHARACTER <= limit:
                continue  # cannot have so many
            tokens = len(embedder.token_spans(document.text[block.start : block.end]))
            if tokens > limit:
                large.append((tokens, f"{document.file}: {block.topic or document.title} ({tokens})"))
    large.sort(key=lambda pair: (-pair[0], pair[1]))
    return [
        Finding(
            say("blocks"),
            "warning" if large else "ok",
            say("blocks_count", count=len(large), limit=limit),
            "otvet tokens" if large else "",
            tuple(shown for _, shown in large),
        )
    ]
