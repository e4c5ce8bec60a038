"""Paragraphs of a block; a table or a stretch of fenced code is one of them."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.ingest.chunkers.body import Range
from pipeline.text.fences import FenceTracker

__all__ = ["lines_of", "paragraphs"]


def paragraphs(text: str) -> list[Range]:
    """Stretches between empty lines, from the first non-space character to the last.

    Empty lines in fenced code part nothing; a table and the code of a fence are stretches of their own.
    """
    found: list[Range] = []
    kind = ""
    for start, end, line_kind in _lines(text):
        span = _trimmed(text, start, end)
        if span is None:
            kind = kind if line_kind == "code" else ""
        elif line_kind == kind:
            found[-1] = (found[-1][0], span[1])
        else:
            found.append(span)
            kind = line_kind
    return found


def lines_of(text: str, start: int, end: int) -> list[Range]:
    """The lines of a stretch that hold anything, without the space around them."""
    spans = (_trimmed(text, start + first, start + last) for first, last, _ in _lines(text[start:end]))
    return [span for span in spans if span is not None]


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    fences = FenceTracker()
    position = 0
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        kind = "code" if fences.is_code(line) else "table" if line.lstrip().startswith("|") else "text"
        yield start, position, kind


def _trimmed(text: str, start: int, end: int) -> Range | None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    right = len(piece.rstrip())
    return (start + left, start + right) if right > left else None
