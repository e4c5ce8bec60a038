"""``headings``: what stands under one heading is one chunk, as far as the embedder takes it whole."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.ingest.chunkers.body import Body, Range
from pipeline.ingest.chunkers.packing import pack
from pipeline.ingest.chunkers.paragraphs import paragraphs
from pipeline.ingest.chunkers.units import units_of
from pipeline.text.sentences import split_sentences

__all__ = ["by_headings"]


def by_headings(body: Body) -> Iterator[Range]:
    """Keep a section whole; a larger one is cut between paragraphs; see `body.Strategy`.

    The setting ``chunk_tokens`` does not count here, the embedder's limit does. Tables and code over
    that limit are cut between lines.
    """
    return pack(body, units_of(body, _pieces(body), body.room), body.room)


def _pieces(body: Body) -> Iterator[Range]:
    for start, end in paragraphs(body.text):
        if body.count(start, end) <= body.room:
            yield start, end
        else:
            for first, last in split_sentences(body.text[start:end]):
                yield start + first, start + last
