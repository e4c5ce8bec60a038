"""Citation markers in generated text: all the ways models write them, read and taken out.

The text is cut into statements, each a sentence with the numbers it cites; ``write_markers`` puts numbers
back in the one form that readers see: ``… дней [1][3].``
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pipeline.answer.units import split_units

__all__ = ["Statement", "split_statements", "write_markers", "write_quote"]

_WORD = r"(?:источник\w*|ист\.|документ\w*|source\w*|src|ref|n|№|#|\^)"
_NUMBERS = rf"(?:{_WORD}\s*[=:№#]*\s*)?\d{{1,3}}"
_LIST = rf"{_NUMBERS}(?:\s*(?:[,;&–-]|и|and)\s*{_NUMBERS})*"
_MARKER = re.compile(
    rf"```(?s:.*?)(?:```|\Z)|`[^`\n]*`"  # code keeps its brackets
    rf"|[ \t]*(?:[\[【]\s*(?P<square>{_LIST})\s*[\]】](?:\([^()\s]*\))?"
    rf"|\(\s*(?P<round>{_WORD}\s*[№#]?\s*\d{{1,3}}(?:\s*(?:[,;&–-]|и|and)\s*{_NUMBERS})*)\s*\)"
    rf"|</?source[^<>\n]{{0,40}}>)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d+)\s*[–-]\s*(\d+)")
# A document has footnotes of its own; they must not pass for citations.
_OWN_MARKER = re.compile(r"\[(\d{1,3})\](?!\()")
# «… дней [1], [2].»: what joins two markers goes with them.
_BETWEEN_MARKERS = re.compile(r"[ \t]*(?:[,;&]|и|and)[ \t]*")
_FENCES = ("```", "~~~")
_ENDING = re.compile(r"[.!?…:;]*[\"»”)*_]*$")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence or a block of code: the white space before it, its words without markers, what it cites."""

    lead: str
    text: str
    numbers: tuple[int, ...]


def split_statements(text: str, known: Collection[int]) -> list[Statement]:
    """Cut a generated text into statements; numbers that are not ``known`` are dropped with their markers.

    A marker belongs to the sentence it stands in, or to the one before it when it follows the full stop; at
    the start of a line, to the sentence behind it.
    """
    bare, marks = _take_out(text, known)
    spans = [(unit.start, unit.end) for unit in split_units(bare)]
    cited: list[list[int]] = [[] for _ in spans]
    for position, numbers in marks:
        if spans:
            owner = _owner(bare, spans, position)
            cited[owner] += [n for n in numbers if n not in cited[owner]]
    statements: list[Statement] = []
    end_before = 0
    for (start, end), numbers in zip(spans, cited, strict=True):
        statements.append(Statement(bare[end_before:start], bare[start:end], tuple(sorted(numbers))))
        end_before = end
    return statements


def write_markers(text: str, numbers: Sequence[int]) -> str:
    """The sentence with its markers before the full stop; a block of code with them on a line before it."""
    if not numbers:
        return text
    if text.startswith(_FENCES):
        return f"{''.join(f'[{n}]' for n in numbers)}\n{text}"
    ending = _ENDING.search(text)
    place = ending.start() if ending else len(text)
    body, rest = text[:place].rstrip(), text[place:]
    return f"{body} {''.join(f'[{n}]' for n in numbers)}{rest}"


def write_quote(quote: str, n: int) -> str:
    """Words of a source with its marker; of a list or a block of code the first line bears it."""
    quote = _OWN_MARKER.sub(r"(\1)", quote.strip())
    first, line_break, rest = quote.partition("\n")
    if first.lstrip().startswith((*_FENCES, "|")):
        return f"[{n}]\n{quote}"
    return write_markers(first, (n,)) + line_break + rest


def _take_out(text: str, known: Collection[int]) -> tuple[str, list[tuple[int, list[int]]]]:
    """The text without markers, and for each its place there with the known numbers."""
    pieces: list[str] = []
    marks: list[tuple[int, list[int]]] = []
    position = length = 0
    for match in _MARKER.finditer(text):
        listed = match["square"] or match["round"]
        numbers = [n for n in _numbers(listed or "") if n in known]
        glued = match.start() > 0 and text[match.start()].strip() and text[match.start() - 1].isalnum()
        if match.group().startswith("`") or (glued and listed and not numbers):
            continue  # code, or an index such as «Массив[0]»
        between = text[position : max(position, match.start())]
        if not (position and _BETWEEN_MARKERS.fullmatch(between)):
            pieces.append(between)
            length += len(between)
        position = match.end()
        if length == 0 or text[: match.start()].endswith("\n"):
            position += len(text[position:]) - len(text[position:].lstrip(" \t"))
        if numbers:
            marks.append((length, numbers))
    pieces.append(text[position:])
    return "".join(pieces), marks


def _numbers(listed: str) -> list[int]:
    expanded = _RANGE.sub(
        lambda m: " ".join(str(n) for n in range(int(m[1]), min(int(m[2]), int(m[1]) + 20) + 1)), listed
    )
    return [int(digits) for digits in re.findall(r"\d+", expanded)]


def _owner(text: str, spans: list[tuple[int, int]], position: int) -> int:
    following = next((n for n, (start, _) in enumerate(spans) if start >= position), len(spans))
    before = following - 1
    if before < 0:
        return 0
    starts_line = "\n" in text[spans[before][1] : position]
    return following if starts_line and following < len(spans) else before
