"""The sources of a reply: each hit with the part of it that a person should read first."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.text.sentences import split_sentences
from pipeline.types import Evidence, EvidenceSentence, Hit, Source

__all__ = ["QUOTE_CHARACTERS", "sources_of"]

QUOTE_CHARACTERS = 400
"""A quote longer than this is no quote any more; one sentence may exceed it."""


def sources_of(evidence: Evidence, *, scores: bool = False) -> tuple[Source, ...]:
    """One source a hit, best first, its evidence sentences as the quote.

    Args:
        evidence: Hits and the sentences chosen from them.
        scores: Keep the stages of every hit (flag ``-s``).
    """
    return tuple(
        _source(hit, [s for s in evidence.sentences if s.source == hit.rank], scores) for hit in evidence.hits
    )


def _source(hit: Hit, sentences: Sequence[EvidenceSentence], scores: bool) -> Source:
    chunk = hit.chunk
    start, end = _quote(sentences) if sentences else _opening(chunk.text)
    return Source(
        n=hit.rank,
        title=chunk.topic or chunk.file,
        link=chunk.link,
        file=chunk.file,
        quote=chunk.text[start:end],
        start=chunk.start + start,
        end=chunk.start + end,
        score=hit.score,
        page=chunk.page,
        chunk_id=chunk.id,
        stages=hit.stages if scores else None,
        headings=chunk.headings,
    )


def _quote(sentences: Sequence[EvidenceSentence]) -> tuple[int, int]:
    """The best sentence and, while the quote stays short, the chosen ones around it."""
    start, end = sentences[0].start, sentences[0].end
    for sentence in sentences[1:]:
        wider = min(start, sentence.start), max(end, sentence.end)
        if wider[1] - wider[0] <= QUOTE_CHARACTERS:
            start, end = wider
    return start, end


def _opening(text: str) -> tuple[int, int]:
    """The first sentences of a passage of which no sentence was chosen."""
    spans = split_sentences(text)
    if not spans:
        return 0, len(text)
    start, end = spans[0]
    for _, later in spans[1:]:
        if later - start > QUOTE_CHARACTERS:
            break
        end = later
    return start, end
