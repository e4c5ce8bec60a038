"""Questions made of a knowledge base itself: what stands in for its readers when refusal is calibrated.

A sentence asked for word by word is far easier to find than what a person asks, so only a part of its
words is kept: then the stand-ins score about as high as real questions do (benchmarks/refusal.py measures
how much higher, and the calibration takes that off). Everything is decided by hashes of the chunk's id,
so equal indexes give equal questions.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from pipeline.answer.units import split_units
from pipeline.types import Chunk

__all__ = ["own_question", "own_questions"]

KEPT = 0.5
"""Share of a sentence's words that its question keeps."""
FEWEST_KEPT, MOST_KEPT = 4, 9
SHORTEST, LONGEST = 6, 40
"""Words of a sentence that is worth asking for."""
HEADING_WORDS = 3
"""Words of a heading that says enough to be asked for where no sentence is."""

_WORD = re.compile(r"[^\W_]+(?:[-._/'’][^\W_]+)*")


def own_questions(chunks: Sequence[Chunk], count: int) -> list[tuple[Chunk, str]]:
    """At most ``count`` chunks, chosen by the hash of their ids, each with its question."""
    found: list[tuple[Chunk, str]] = []
    for chunk in sorted(chunks, key=lambda chunk: _number("chunk", chunk.id)):
        if len(found) == count:
            break
        question = own_question(chunk)
        if question:
            found.append((chunk, question))
    return found


def own_question(chunk: Chunk) -> str:
    """Half of the words of one of the chunk's sentences, else of its heading; empty where it has neither."""
    spans = [unit for unit in split_units(chunk.text) if unit.kind in ("sentence", "item")]
    sentences = [(unit.start, _WORD.findall(chunk.text[unit.start : unit.end])) for unit in spans]
    worded = [(start, words) for start, words in sentences if SHORTEST <= len(words) <= LONGEST]
    if worded:
        _, words = min(worded, key=lambda item: _number("sentence", chunk.id, str(item[0])))
        return _part(chunk, words)
    heading = _WORD.findall(chunk.headings[-1] if chunk.headings else chunk.topic)
    return _part(chunk, heading) if HEADING_WORDS <= len(heading) <= LONGEST else ""


def _part(chunk: Chunk, words: Sequence[str]) -> str:
    """Some of the words, in their order."""
    count = min(max(FEWEST_KEPT, round(len(words) * KEPT)), MOST_KEPT)
    order = sorted(range(len(words)), key=lambda place: _number("word", chunk.id, str(place)))
    return _joined(words[place] for place in sorted(order[:count]))


def _joined(words: Iterable[str]) -> str:
    return " ".join(words)


def _number(*parts: str) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest()[:8], "big")
