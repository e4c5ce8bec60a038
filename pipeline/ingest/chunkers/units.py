"""The pieces that chunks are put together from: sentences, paragraphs, and parts of too long ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pipeline.ingest.chunkers.body import Body, Range
from pipeline.text.graphemes import is_boundary, last_boundary
from pipeline.text.sentences import split_sentences

__all__ = ["Unit", "cut", "sentence_units", "units_of"]

# Unicode's own bound for honest text (UAX #15, stream-safe format) is 30 marks; beyond it a "character"
# only serves to break programs, and may be cut.
_LONGEST_GRAPHEME = 32


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a block that stays whole where it can; not ``whole`` if it is a part of such a piece."""

    start: int
    end: int
    tokens: int
    whole: bool = True


def sentence_units(body: Body, budget: int) -> list[Unit]:
    """The sentences of a block, those over the budget cut between words."""
    return units_of(body, split_sentences(body.text), budget)


def units_of(body: Body, ranges: Iterable[Range], budget: int) -> list[Unit]:
    """Units of ranges, those over the budget cut between words."""
    units: list[Unit] = []
    for start, end in ranges:
        unit = Unit(start, end, body.count(start, end))
        units.extend([unit] if unit.tokens <= budget else cut(body, unit, budget))
    return units


def cut(body: Body, unit: Unit, budget: int) -> list[Unit]:
    """Parts of a long unit, each within the budget unless a single grapheme is over it."""
    parts: list[Unit] = []
    text, starts = body.text, body.token_starts
    start = unit.start
    while start < unit.end:
        beyond = int(np.searchsorted(starts, start)) + budget
        reach = int(starts[beyond]) if beyond < len(starts) else unit.end
        end = _cut_place(text, start, min(reach, unit.end), unit.end)
        text_end = start + len(text[start:end].rstrip())
        parts.append(Unit(start, text_end, body.count(start, text_end), whole=False))
        start = end + len(text[end : unit.end]) - len(text[end : unit.end].lstrip())
    return parts


def _cut_place(text: str, start: int, reach: int, end: int) -> int:
    if reach >= end:
        return end
    space = max(text.rfind(" ", start, reach + 1), text.rfind("\n", start, reach + 1))
    if space > start and text[start:space].strip():
        return space
    place = last_boundary(text, max(reach, start + 1))
    if place > start:
        return place
    place = start + 1
    while place < start + _LONGEST_GRAPHEME and not is_boundary(text, place):
        place += 1
    return min(place, end)
