"""All strategies by the names that the settings know."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.ingest.chunkers.body import Strategy
from pipeline.ingest.chunkers.headings import by_headings
from pipeline.ingest.chunkers.recursive import by_separators
from pipeline.ingest.chunkers.semantic import by_topic_shift
from pipeline.ingest.chunkers.sentences import by_sentences
from pipeline.settings import ChunkingName

__all__ = ["STRATEGIES"]

STRATEGIES: Mapping[ChunkingName, Strategy] = {
    "sentences": by_sentences,
    "headings": by_headings,
    "recursive": by_separators,
    "semantic": by_topic_shift,
}
"""A new one is registered here and named in `pipeline.settings.ChunkingName`."""
