"""Documents cut into chunks that fit the embedder, at sentence ends, nothing lost.

Sizes are tokens of the embedder itself. A chunk never crosses a block. Neighbours inside a block
share whole sentences. A sentence over the limit is cut between words, a word over the limit
between characters that a person sees (graphemes).
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.errors import SettingsError
from pipeline.ports import Embedder, EmbedderSpec
from pipeline.text.anonymise import anonymise
from pipeline.text.embedded import TOPIC_CHARACTERS, embedded_topic, embedded_with_map
from pipeline.text.graphemes import is_boundary, last_boundary
from pipeline.text.sentences import split_sentences
from pipeline.types import Block, Chunk, Document, IntMatrix

__all__ = ["Chunker", "topic_characters"]

# Unicode's own bound for honest text (UAX #15, stream-safe format) is 30 marks; beyond it a "character"
# only serves to break programs, and may be cut.
_LONGEST_GRAPHEME = 32
_JOIN_TOKENS = 2  # the line break after the topic, and a word that splits differently at a border


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, or a part of one that is too long."""

    start: int
    end: int
    tokens: int
    whole: bool


def topic_characters(spec: EmbedderSpec) -> int:
    """Characters of a topic that are embedded at most: they take half the limit even at a token each."""
    return max(min(TOPIC_CHARACTERS, spec.token_limit // 2), 0)


class Chunker:
    """Cuts documents for one embedder.

    Args:
        embedder: Its tokens are counted and its limit is kept.
        chunk_tokens: Tokens of a chunk's text at most; the topic comes on top.
        overlap_tokens: Tokens that neighbours in a block share at most.

    Raises:
        SettingsError: The overlap is half a chunk or more, or a size makes no sense (case 10).
    """

    def __init__(self, embedder: Embedder, chunk_tokens: int = 220, overlap_tokens: int = 40) -> None:
        if chunk_tokens < 1 or chunk_tokens > embedder.spec.token_limit:
            reason = f"{chunk_tokens} (1..{embedder.spec.token_limit})"
            raise SettingsError(where="index.chunk_tokens", reason=reason)
        if overlap_tokens < 0 or overlap_tokens * 2 >= chunk_tokens:
            reason = f"{overlap_tokens} * 2 >= chunk_tokens ({chunk_tokens})"
            raise SettingsError(where="index.overlap_tokens", reason=reason)
        self._embedder = embedder
        self._chunk_tokens = chunk_tokens
        self._overlap = overlap_tokens
        self._topic_limit = topic_characters(embedder.spec)
        self.shortened_topics: set[str] = set()

    def chunk(self, document: Document) -> list[Chunk]:
        """Chunks of a document in order; together the chunks of a block hold all its text."""
        chunks: list[Chunk] = []
        for block in document.blocks:
            topic, budget = self._room(block.topic)
            for place in self._ranges(document.text, block, topic, budget):
                chunks.append(_make_chunk(document, block, topic, place, len(chunks)))
        return chunks

    def count(self, text: str) -> int:
        """Tokens of a text as it would be embedded (links replaced, no prefix)."""
        return len(self._embedder.token_spans(anonymise(text).text))

    def dropped_tokens(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> int:
        """Tokens of block text that lie in no chunk; a measure that nothing was lost (case 15)."""
        ranges: dict[str, list[tuple[int, int]]] = {}
        for chunk in chunks:
            ranges.setdefault(chunk.document_id, []).append((chunk.start, chunk.end))
        dropped = 0
        for document in documents:
            covered = sorted(ranges.get(document.id, []))
            for block in document.blocks:
                for start, end in _uncovered(block, covered):
                    piece = document.text[start:end].strip()
                    dropped += self.count(piece) if piece else 0
        return dropped

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
        taken = self.count(short) + _JOIN_TOKENS if short else 0
        return topic, min(self._chunk_tokens, limit - taken)

    def _ranges(self, text: str, block: Block, topic: str, budget: int) -> Iterator[tuple[int, int]]:
        body = text[block.start : block.end]
        token_starts = self._token_starts(body)
        pending = _units(body, token_starts, budget)
        target = self._target(len(token_starts), budget)
        first = 0
        while first < len(pending):
            after = _packed(pending, first, target, budget)
            while not self._fits(topic, body[pending[first].start : pending[after - 1].end], budget):
                if after > first + 1:
                    after -= 1
                    continue
                # Cut apart, a text may have a token more than inside its sentence; cut it smaller.
                parts = _cut(body, token_starts, pending[first], max(pending[first].tokens - 2, 1))
                if len(parts) == 1:
                    break  # one grapheme, or a text without tokens: there is nothing left to cut
                pending[first : first + 1] = parts
            yield block.start + pending[first].start, block.start + pending[after - 1].end
            first = self._next_first(pending, first, after, budget)

    def _token_starts(self, body: str) -> IntMatrix:
        made = anonymise(body)
        spans = made.to_original(self._embedder.token_spans(made.text))
        return np.maximum.accumulate(spans[:, 0]) if len(spans) else spans[:, 0]

    def _target(self, tokens: int, budget: int) -> int:
        """Tokens to aim at, so that the last chunk of a block is no crumb."""
        if tokens <= budget:
            return budget
        shared = min(self._overlap, budget // 2)
        chunks = -(-(tokens - shared) // max(budget - shared, 1))
        return -(-(tokens + (chunks - 1) * shared) // chunks)

    def _fits(self, topic: str, text: str, budget: int) -> bool:
        made = embedded_with_map(topic, text, self._topic_limit)
        spans = self._embedder.token_spans(made.text)
        in_text = int((spans[:, 0] >= made.offset).sum())
        return in_text <= budget and len(spans) <= self._embedder.spec.token_limit

    def _next_first(self, units: Sequence[_Unit], first: int, after: int, budget: int) -> int:
        """Where the next chunk begins: so many whole sentences back as the overlap allows."""
        if after >= len(units):
            return after
        begin, shared = after, 0
        room = min(self._overlap, budget - units[after].tokens)
        while begin - 1 > first and units[begin - 1].whole and shared + units[begin - 1].tokens <= room:
            begin -= 1
            shared += units[begin].tokens
        return begin


def _units(body: str, token_starts: IntMatrix, budget: int) -> list[_Unit]:
    units: list[_Unit] = []
    for start, end in split_sentences(body):
        unit = _Unit(start, end, _count(token_starts, start, end), whole=True)
        units.extend([unit] if unit.tokens <= budget else _cut(body, token_starts, unit, budget))
    return units


def _count(token_starts: IntMatrix, start: int, end: int) -> int:
    left, right = np.searchsorted(token_starts, (start, end))
    return int(right - left)


def _cut(body: str, token_starts: IntMatrix, unit: _Unit, budget: int) -> list[_Unit]:
    """Parts of a long sentence, each within the budget unless a single grapheme is over it."""
    parts: list[_Unit] = []
    start = unit.start
    while start < unit.end:
        beyond = int(np.searchsorted(token_starts, start)) + budget
        reach = int(token_starts[beyond]) if beyond < len(token_starts) else unit.end
        end = _cut_place(body, start, min(reach, unit.end), unit.end)
        text_end = start + len(body[start:end].rstrip())
        parts.append(_Unit(start, text_end, _count(token_starts, start, text_end), whole=False))
        start = end + len(body[end : unit.end]) - len(body[end : unit.end].lstrip())
    return parts


def _cut_place(body: str, start: int, reach: int, end: int) -> int:
    if reach >= end:
        return end
    space = max(body.rfind(" ", start, reach + 1), body.rfind("\n", start, reach + 1))
    if space > start and body[start:space].strip():
        return space
    place = last_boundary(body, max(reach, start + 1))
    if place > start:
        return place
    place = start + 1
    while place < start + _LONGEST_GRAPHEME and not is_boundary(body, place):
        place += 1
    return min(place, end)


def _packed(units: Sequence[_Unit], first: int, target: int, budget: int) -> int:
    """How far the units from ``first`` fill a chunk: the number after the last one."""
    after, size = first + 1, units[first].tokens
    while after < len(units) and size < target and size + units[after].tokens <= budget:
        size += units[after].tokens
        after += 1
    return after


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


def _make_chunk(document: Document, block: Block, topic: str, place: tuple[int, int], ordinal: int) -> Chunk:
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
