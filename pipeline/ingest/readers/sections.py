"""Headings and paragraphs as they come, put together into one text with blocks and heading paths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.md import TOPIC_SEPARATOR
from pipeline.ingest.reasons import reason
from pipeline.text.normalise import clean_text
from pipeline.types import Block

__all__ = ["MAX_CHARACTERS", "Sections"]

MAX_CHARACTERS = 40_000_000  # twelve times «War and Peace»: more is data, not reading

_BATCH = 500


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    text: str


@dataclass(slots=True)
class _Part:
    path: tuple[_Heading, ...]
    page: int | None
    link: str | None
    start: int
    end: int


class Sections:
    """Gathers the text of a structured file; heading lines are in the text, outside of the blocks.

    Args:
        file: Named in the error when the text grows past every bound.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._pieces: list[str] = []
        self._length = 0
        self._headings: list[_Heading] = []
        self._path: tuple[_Heading, ...] = ()
        self._parts: list[_Part] = []
        self._open = False
        self._page: int | None = None
        self._link: str | None = None

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(self._pieces)

    @property
    def characters(self) -> int:
        """Characters so far."""
        return self._length

    @property
    def title(self) -> str:
        """The heading that names the whole: the only one of the topmost level, if there is one."""
        top = min((heading.level for heading in self._headings), default=0)
        names = [heading.text for heading in self._headings if heading.level == top]
        return names[0] if len(names) == 1 else ""

    def page(self, number: int) -> None:
        """What follows is on this page; a new page opens a new block."""
        self._open = self._open and number == self._page
        self._page = number

    def heading(self, level: int, text: str, link: str | None = None) -> None:
        """Open a section; ``level`` counts from 1, ``link`` is the section's own address."""
        line = " ".join(clean_text(text).split())
        if not line:
            return
        heading = _Heading(level, line)
        self._headings.append(heading)
        self._path = (*(above for above in self._path if above.level < level), heading)
        self._append(line, tight=False)
        self._open = False
        self._link = link

    def add(self, text: str, *, tight: bool = False) -> None:
        """Append a paragraph; a ``tight`` one (list item, table row) follows the one before line by line.

        Raises:
            UnreadableFileError: There is more text than any reader could use.
        """
        piece = clean_text(text).strip("\n").rstrip()
        if not piece.strip():
            return
        start = self._append(piece, tight=tight)
        if self._open:
            self._parts[-1].end = self._length
        else:
            self._parts.append(_Part(self._path, self._page, self._link, start, self._length))
            self._open = True

    def add_lines(self, lines: Iterable[str], *, tight: bool = False) -> None:
        """Append the lines of a table or list, however many; only the first may stand apart.

        Raises:
            UnreadableFileError: As by `add`.
        """
        rest = iter(lines)
        while batch := list(islice(rest, _BATCH)):
            self.add("\n".join(batch), tight=tight)
            tight = True

    def blocks(self, title: str) -> list[Block]:
        """The blocks, their topics led by the document's title."""
        return [
            Block(part.start, part.end, _topic(title, names), names, part.link, page=part.page)
            for part in self._parts
            for names in [tuple(heading.text for heading in part.path)]
        ]

    def _append(self, piece: str, *, tight: bool) -> int:
        if self._length + len(piece) > MAX_CHARACTERS:
            limit = MAX_CHARACTERS // 1_000_000
            raise UnreadableFileError(file=self._file, reason=reason("too_much_text", limit))
        if self._pieces:
            gap = "\n" if tight and self._open else "\n\n"
            self._pieces.append(gap)
            self._length += len(gap)
        start = self._length
        self._pieces.append(piece)
        self._length += len(piece)
        return start


def _topic(title: str, names: tuple[str, ...]) -> str:
    return TOPIC_SEPARATOR.join(names if names[:1] == (title,) else (title, *names))
