"""How many tokens each block of the knowledge base has, for ``otvet tokens``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.ingest.build import collect
from pipeline.messages import Phrase
from pipeline.ports import Embedder

__all__ = ["BlockTokens", "TokenReport", "token_report"]


@dataclass(frozen=True, slots=True)
class BlockTokens:
    """One block: a topic of a text file, a section of Markdown. ``large`` means over the threshold."""

    file: str
    topic: str
    tokens: int
    large: bool


@dataclass(frozen=True, slots=True)
class TokenReport:
    """All blocks in the order of files and text, and the files that have none."""

    blocks: tuple[BlockTokens, ...]
    skipped: Mapping[str, Phrase]

    @property
    def tokens(self) -> int:
        """Tokens of all blocks together."""
        return sum(block.tokens for block in self.blocks)


def token_report(knowledge_base: Path, embedder: Embedder, large_block_tokens: int = 900) -> TokenReport:
    """Count the tokens of every block's text with the embedder's own tokenizer.

    Args:
        knowledge_base: The folder of documents.
        embedder: Whose tokenizer counts; nothing is encoded.
        large_block_tokens: Blocks with more are marked as large.
    """
    collection = collect(knowledge_base)
    blocks = []
    for document in collection.documents:
        for block in document.blocks:
            tokens = len(embedder.token_spans(document.text[block.start : block.end]))
            topic = block.topic or document.title
            blocks.append(BlockTokens(document.file, topic, tokens, tokens > large_block_tokens))
    return TokenReport(tuple(blocks), collection.skipped)
