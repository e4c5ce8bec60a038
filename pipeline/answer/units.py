"""A passage as the pieces that can be quoted: sentences, list items, table rows, blocks of code.

A piece may not stand well alone. A line that ends with a colon needs what it announces, a sentence that
opens with «Это» needs the one before, the answer to a question in an FAQ is the sentence after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.text.fences import FenceTracker
from pipeline.text.sentences import split_sentences

__all__ = ["Unit", "split_units", "widened"]

Span = tuple[int, int]

_ITEM = re.compile(r"\s*(?:[-*+•–—]\s|\d{1,3}[.)]\s|[a-zа-яё]\)\s)", re.IGNORECASE)
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_ROW = re.compile(r"\s*\|")
_LEANING = re.compile(
    r"(?:это|этот|эта|эти|этого|этому|этим|этой|этих|он|она|оно|они|его|её|ее|их|такой|такая|такое|такие|"
    r"таким|там|тогда|поэтому|кроме|однако|также|при этом|для этого|в этом|в таком|иначе|если нет|затем|"
    r"после этого|this|that|these|those|it|its|they|their|he|she|his|her|such|there|then|therefore|however|"
    r"also|otherwise|if not|in this case)\b",
    re.IGNORECASE,
)
_FENCE_LINE = re.compile(r"^\s*(?:`{3,}|~{3,})(?P<info>[^`\n]*)$", re.MULTILINE)
_OPENING = "«\"“'([*_` \t\n"


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a passage, by character offsets.

    Attributes:
        kind: ``sentence``, ``item`` of a list, ``row`` of a table, ``code`` or ``heading``.
    """

    start: int
    end: int
    kind: str


def split_units(text: str) -> list[Unit]:
    """The pieces of a passage in order; lines of one block of code are one piece."""
    code = _code_ranges(text)
    units: list[Unit] = []
    for start, end in split_sentences(text):
        block = next((span for span in code if span[0] <= start < span[1]), None)
        if block is None:
            units.append(Unit(start, end, _kind(text, start, end)))
        elif units and units[-1].kind == "code" and units[-1].start >= block[0]:
            units[-1] = Unit(units[-1].start, end, "code")
        else:
            units.append(Unit(start, end, "code"))
    return units


def widened(text: str, units: Sequence[Unit], place: int) -> tuple[int, int]:
    """The places (first, last) of the pieces without which piece ``place`` says little."""
    first = last = place
    while (before := _leans_on(text, units, first)) < first:
        first = before
    if _announces(text, units[last]) and last + 1 < len(units):
        last += 1
        while units[last].kind == "item" and last + 1 < len(units) and units[last + 1].kind == "item":
            last += 1
    return first, last


def _leans_on(text: str, units: Sequence[Unit], place: int) -> int:
    """The piece that ``place`` cannot do without; ``place`` itself where there is none."""
    unit = units[place]
    if place == 0 or unit.kind in ("heading", "row"):
        return place
    if unit.kind == "sentence":
        opening = text[unit.start : unit.end].lstrip(_OPENING)
        leans = units[place - 1].kind in ("sentence", "item") and _LEANING.match(opening) is not None
        return place - 1 if leans else place
    lead = place - 1
    while unit.kind == "item" and lead > 0 and units[lead].kind == "item":
        lead -= 1
    return lead if units[lead].kind != unit.kind and _announces(text, units[lead]) else place


def _announces(text: str, unit: Unit) -> bool:
    end = text[unit.start : unit.end].rstrip("*_` ")
    return unit.kind != "code" and end.endswith((":", "?"))


def _kind(text: str, start: int, end: int) -> str:
    line = text[text.rfind("\n", 0, start) + 1 : end]
    if not text[text.rfind("\n", 0, start) + 1 : start].strip():
        if _HEADING.match(line):
            return "heading"
        if _ROW.match(line):
            return "row"
        if _ITEM.match(line):
            return "item"
    return "sentence"


def _code_ranges(text: str) -> list[Span]:
    tracker = FenceTracker()
    fences = [match["info"].strip() for match in _FENCE_LINE.finditer(text)]
    if len(fences) % 2 and not fences[0]:
        tracker.is_code("```")  # the chunk begins inside a block whose first line is in the one before
    ranges: list[Span] = []
    position = 0
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        if tracker.is_code(line):
            joined = ranges and ranges[-1][1] == start
            ranges[-1:] = [(ranges[-1][0], position)] if joined else [*ranges[-1:], (start, position)]
    return ranges
