"""Documents cut into chunks that fit the embedder, nothing lost.

Sizes are tokens of the embedder itself. A chunk never crosses a block; where in a block it ends is the
business of the strategy chosen for the document's format.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import numpy as np

from pipeline.errors import SettingsError
from pipeline.ingest.chunkers.body import Body, Range
from pipeline.ingest.chunkers.coverage import uncovered_pieces
from pipeline.ingest.chunkers.semantic import by_topic_shift
from pipeline.ingest.chunkers.strategies import STRATEGIES
from pipeline.ports import Embedder, EmbedderSpec
from pipeline.settings import ChunkingName, FormatName, IndexSettings
from pipeline.text.anonymise import anonymise
from pipeline.text.embedded import TOPIC_CHARACTERS, embedded_topic, embedded_with_map
from pipeline.text.word_tokens import word_vectors
from pipeline.types import Block, Chunk, Document, TokenVectors

__all__ = ["Chunker", "topic_characters"]

_JOIN_TOKENS = 2  # the line break after the topic, and a word that splits differently at a border


def topic_characters(spec: EmbedderSpec) -> int:
    """Characters of a topic that are embedded at most: they take half the limit even at a token each."""
    return max(min(TOPIC_CHARACTERS, spec.token_limit // 2), 0)


class Chunker:
    """Cuts documents for one embedder.

    Args:
        embedder: Its tokens are counted and its limit is kept.
        chunk_tokens: Tokens of a chunk's text at most; the topic comes on top.
        overlap_tokens: Tokens that neighbours in a block share at most.
        chunking: The strategy.
        by_format: The strategies of formats that are cut otherwise.

    Raises:
        SettingsError: The overlap is half a chunk or more, or a size makes no sense (case 10).
    """

    def __init__(
        self,
        embedder: Embedder,
        chunk_tokens: int = 220,
        overlap_tokens: int = 40,
        chunking: ChunkingName = "sentences",
        by_format: Mapping[FormatName, ChunkingName] | None = None,
    ) -> None:
        if chunk_tokens < 1 or chunk_tokens > embedder.spec.token_limit:
            reason = f"{chunk_tokens} (1..{embedder.spec.token_limit})"
            raise SettingsError(where="index.chunk_tokens", reason=reason)
        if overlap_tokens < 0 or overlap_tokens * 2 >= chunk_tokens:
            reason = f"{overlap_tokens} * 2 >= chunk_tokens ({chunk_tokens})"
            raise SettingsError(where="index.overlap_tokens", reason=reason)
        self._embedder = embedder
        self._chunk_tokens = chunk_tokens
        self._overlap = overlap_tokens
        self._strategy = STRATEGIES[chunking]
        self._by_format = {str(name): STRATEGIES[chosen] for name, chosen in (by_format or {}).items()}
        self._topic_limit = topic_characters(embedder.spec)
        self.shortened_topics: set[str] = set()

    @classmethod
    def of(cls, embedder: Embedder, settings: IndexSettings) -> Chunker:
        """The chunker that the settings describe."""
        return cls(
            embedder,
            settings.chunk_tokens,
            settings.overlap_tokens,
            settings.chunking,
            settings.chunking_by_format,
        )

    @property
    def asks_for_vectors(self) -> bool:
        """True if some documents are cut with the embedder's help, which takes as long as embedding them."""
        return by_topic_shift in (self._strategy, *self._by_format.values())

    def chunk(self, document: Document) -> list[Chunk]:
        """Chunks of a document in order; together the chunks of a block hold all its text."""
        kind = str(document.metadata.get("source_type", ""))
        strategy = self._by_format.get(kind, self._strategy)
        chunks: list[Chunk] = []
        for block in document.blocks:
            topic, room = self._room(block.topic)
            for start, end in strategy(self._body(document.text[block.start : block.end], topic, room)):
                place = (block.start + start, block.start + end)
                chunks.append(_make_chunk(document, block, topic, place, len(chunks)))
        return chunks

    def count(self, text: str) -> int:
        """Tokens of a text as it would be embedded (links replaced, no prefix)."""
        return len(self._embedder.token_spans(anonymise(text).text))

    def dropped_tokens(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> int:
        """Tokens of block text that lie in no chunk; a measure that nothing was lost (case 15)."""
        return sum(self.count(piece) for piece in uncovered_pieces(documents, chunks))

    def _room(self, topic: str) -> tuple[str, int]:
        """The topic, and the tokens it leaves for text; a topic that takes most of the room is cut."""
        limit = self._embedder.spec.token_limit
        short = embedded_topic(topic, self._topic_limit)
        if short != embedded_topic(topic, len(topic) + 1):
            self.shortened_topics.add(topic)
        while short and limit - self.count(short) - _JOIN_TOKENS < min(
            self._chunk_tokens, max(limit // 4, 1)
        ):
            short = topic = embedded_topic(short, len(short) // 2)
            self.shortened_topics.add(topic)
        return topic, limit - (self.count(short) + _JOIN_TOKENS if short else 0)

    def _body(self, text: str, topic: str, room: int) -> Body:
        made = anonymise(text)
        spans = made.to_original(self._embedder.token_spans(made.text))

        def fits(start: int, end: int, tokens: int) -> bool:
            return self._fits(topic, text[start:end], tokens)

        def vectors(start: int, end: int) -> TokenVectors:
            return self._vectors(text, start, end)

        starts = np.maximum.accumulate(spans[:, 0]) if len(spans) else spans[:, 0]
        return Body(text, starts, min(self._chunk_tokens, room), room, self._overlap, fits, vectors)

    def _fits(self, topic: str, text: str, budget: int) -> bool:
        made = embedded_with_map(topic, text, self._topic_limit)
        spans = self._embedder.token_spans(made.text)
        in_text = int((spans[:, 0] >= made.offset).sum())
        return in_text <= budget and len(spans) <= self._embedder.spec.token_limit

    def _vectors(self, text: str, start: int, end: int) -> TokenVectors:
        made = anonymise(text[start:end])
        encoded = self._embedder.encode([made.text], "passage", with_tokens=True)
        found = word_vectors(made.text) if encoded.tokens is None else encoded.tokens[0]
        spans = np.maximum.accumulate(made.to_original(found.spans), axis=0) + np.int32(start)
        return TokenVectors(found.vectors, spans)


def _make_chunk(document: Document, block: Block, topic: str, place: Range, ordinal: int) -> Chunk:
    start, end = place
    text = document.text[start:end]
    digest = hashlib.sha256(f"{document.file}\0{start}\0{end}\0{text}".encode()).hexdigest()[:16]
    return Chunk(
        id=digest,
        document_id=document.id,
        ordinal=ordinal,
        topic=topic,
        text=text,
        start=start,
        end=end,
        headings=block.headings,
        link=block.link or document.link,
        file=document.file,
        tags=tuple(dict.fromkeys((*document.tags, *block.tags))),
        page=block.page,
    )
