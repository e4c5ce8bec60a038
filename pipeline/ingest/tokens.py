"""How many tokens each block of the knowledge base has, for ``otvet tokens``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.ingest.collect import collect
from pipeline.ports import Embedder

__all__ = ["BlockSize", "token_report"]


@dataclass(frozen=True, slots=True)
class BlockSize:
    """One block: a topic of a text file, a section of Markdown. ``large`` means over the threshold."""

    file: str
    topic: str
    tokens: int
    large: bool


def token_report(knowledge_base: Path, embedder: Embedder, large_block_tokens: int = 900) -> list[BlockSize]:
    """Count the tokens of every block's text with the embedder's own tokenizer, in reading order.

    Args:
        knowledge_base: The folder of documents.
        embedder: Whose tokenizer counts; nothing is encoded.
        large_block_tokens: Blocks with more are marked as large.
    """
    sizes: list[BlockSize] = []
    for document in collect(knowledge_base).documents:
        for block in document.blocks:
            tokens = len(embedder.token_spans(document.text[block.start : block.end]))
            topic = block.topic or document.title
            sizes.append(BlockSize(document.file, topic, tokens, tokens > large_block_tokens))
    return sizes
