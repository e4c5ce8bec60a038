"""``sentences``: whole sentences up to the size of a chunk, neighbours sharing a few."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.ingest.chunkers.body import Body, Range
from pipeline.ingest.chunkers.packing import pack
from pipeline.ingest.chunkers.units import sentence_units

__all__ = ["by_sentences"]


def by_sentences(body: Body) -> Iterator[Range]:
    """Cut at sentence ends, with overlap; see `body.Strategy`."""
    return pack(body, sentence_units(body, body.budget), body.budget, body.overlap)
