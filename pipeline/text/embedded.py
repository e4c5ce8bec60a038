"""The text of a chunk as an embedder gets it: topic, line break, text, links taken out.

One place makes it, because indexing, the rebuild of caches and measuring must agree on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.text.anonymise import Anonymised, anonymise
from pipeline.text.graphemes import last_boundary
from pipeline.types import Chunk, IntMatrix

__all__ = ["TOPIC_CHARACTERS", "EmbeddedText", "embedded_text", "embedded_topic", "embedded_with_map"]

TOPIC_CHARACTERS = 240


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """What is embedded for a chunk, and the way back to the chunk's own text."""

    text: str
    offset: int
    body: Anonymised

    def spans_in_chunk(self, spans: IntMatrix) -> IntMatrix:
        """Token spans of the embedded text as spans of ``chunk.text``; (-1, -1) for the topic."""
        in_topic = spans[:, 0] < self.offset
        inside = self.body.to_original(np.maximum(spans - np.int32(self.offset), 0).astype(np.int32))
        inside[in_topic] = -1
        return inside


def embedded_topic(topic: str, limit: int = TOPIC_CHARACTERS) -> str:
    """The topic as embedded: one line, links taken out, at most ``limit`` characters.

    An over-long one loses its middle: the title opens it and the nearest heading ends it.
    """
    line = " ".join(anonymise(topic).text.split())
    if len(line) <= limit:
        return line
    head = last_boundary(line, max((limit - 3) // 2, 0))
    tail = len(line) - max(limit - 3 - head, 0)
    return f"{line[:head].rstrip()} … {line[last_boundary(line, tail) :].lstrip()}"[:limit].strip()


def embedded_with_map(topic: str, text: str, topic_limit: int = TOPIC_CHARACTERS) -> EmbeddedText:
    """As `embedded_text`, with what is needed to map token spans back."""
    body = anonymise(text)
    head = embedded_topic(topic, topic_limit)
    prefix = f"{head}\n" if head else ""
    return EmbeddedText(prefix + body.text, len(prefix), body)


def embedded_text(chunk: Chunk, topic_limit: int = TOPIC_CHARACTERS) -> str:
    """The text that is embedded for a chunk: topic, line break, text; links and addresses replaced.

    Args:
        chunk: Any chunk; without a topic the text stands alone.
        topic_limit: Characters of the topic at most (the manifest's ``chunker.topic_characters``).
    """
    return embedded_with_map(chunk.topic, chunk.text, topic_limit).text
