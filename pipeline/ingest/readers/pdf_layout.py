"""From lines on pages to paragraphs and headings: running heads out, broken words whole again."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pipeline.ingest.readers.pdf_lines import HYPHEN, Line, Page

__all__ = ["Piece", "heading_sizes", "joined", "page_pieces", "vocabulary", "without_running_heads"]

_EDGE = 0.15  # running heads stand in this share of the page's height, at its top and bottom
_EDGE_LINES = 3
_SAME_PLACE = 6.0
_REPEATS = 3
_PAGE_NUMBER = re.compile(
    r"(?:(?:стр(?:аница|\.)?|с\.|лист|page|p\.)\s*)?[\-–—\s]*(?:\d{1,4}|[ivxlc]{1,6})[\-–—\s]*"
    r"(?:(?:из|of|/)\s*\d{1,4})?",
    re.I,
)
_OUTER_NUMBER = re.compile(r"^\d{1,4}(?!\S)|(?<!\S)\d{1,4}$", re.ASCII)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST_PART = re.compile(r"[^\W\d_]+$")
_FIRST_PART = re.compile(r"[^\W\d_]+")
_ITEM = re.compile(r"\s*(?:[•●○▪■–—*\-]\s|\(?\d{1,3}(?:\.\d{1,3}){0,4}[.)]\s|\(?[a-zа-яё]\)\s)", re.I)
_END = re.compile(r"[.!?:;…][\"»”)\]]*$")
_VISIBLE_HYPHENS = ("-", "\u2010", "\xad")
# Parts that Russian writes with a hyphen whatever the line does.
_HYPHENATED_TAILS = frozenset(("либо", "нибудь", "то", "таки", "ка", "де", "с"))
_HYPHENATED_HEADS = frozenset(("кое", "кой", "по", "во", "в", "из"))
_HEADING_CHARACTERS = 160
_HEADING_FACTOR = 1.15
_HEADING_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Piece:
    """A paragraph or heading of a page.

    Attributes:
        level: 0 for a paragraph, else the heading's level from 1.
        tight: It follows the piece before it line by line (list items, rows).
        size: Font size of its first line.
    """

    text: str
    level: int = 0
    tight: bool = False
    size: float = 0.0


def without_running_heads(pages: Sequence[Page]) -> list[Page]:
    """Pages without headers, footers and page numbers.

    A line at the edge of a page is one if on three pages or more the same words stand at the same
    height, or a number that counts along with the pages. Larger letters than those of most text
    are titles, as on slides, and stay.
    """
    places: dict[str, list[tuple[int, float]]] = defaultdict(list)
    largest = _body_size(pages) * _HEADING_FACTOR
    edges = {page.number: [line for line in _edge_lines(page) if line.size < largest] for page in pages}
    for page in pages:
        for line in edges[page.number]:
            for key in _keys(line, page.number):
                places[key].append((page.number, line.bottom))
    cleaned = []
    for page in pages:
        noise = {
            id(line)
            for line in edges[page.number]
            if any(_is_running(line, places[key]) for key in _keys(line, page.number))
            or (len(pages) > 1 and line in _outermost(page) and _PAGE_NUMBER.fullmatch(line.text))
        }
        cleaned.append(replace(page, lines=tuple(line for line in page.lines if id(line) not in noise)))
    return cleaned


def _edge_lines(page: Page) -> list[Line]:
    by_height = sorted(page.lines, key=lambda line: -line.bottom)
    upper = [line for line in by_height[:_EDGE_LINES] if line.bottom > page.height * (1 - _EDGE)]
    lower = [line for line in by_height[-_EDGE_LINES:] if line.top < page.height * _EDGE]
    return [*upper, *(line for line in lower if line not in upper)]


def _outermost(page: Page) -> list[Line]:
    return [max(page.lines, key=lambda line: line.bottom), min(page.lines, key=lambda line: line.bottom)]


def _keys(line: Line, number: int) -> list[str]:
    """What may repeat from page to page: the words, and how far a number is ahead of the page's own."""
    ahead = [f"#{int(digits) - number}" for digits in _OUTER_NUMBER.findall(line.text)]
    return [line.text.casefold(), *ahead]


def _is_running(line: Line, places: Sequence[tuple[int, float]]) -> bool:
    pages = {number for number, bottom in places if abs(bottom - line.bottom) <= _SAME_PLACE}
    return len(pages) >= _REPEATS


def vocabulary(pages: Iterable[Page]) -> Collection[str]:
    """Words of the lines as written inside of them, for the question whether a hyphen is the word's own."""
    return {word.casefold() for page in pages for line in page.lines for word in _WORD.findall(line.text)}


def heading_sizes(pages: Sequence[Page]) -> dict[float, int]:
    """Font size -> heading level, for sizes well above that of most text; empty where that tells nothing."""
    body = _body_size(pages)
    lines = Counter(line.size for page in pages for line in page.lines)
    large = sorted((size for size in lines if size >= body * _HEADING_FACTOR), reverse=True)
    if sum(lines[size] for size in large) > _HEADING_SHARE * sum(lines.values()):
        return {}
    levels: dict[float, int] = {}
    level, previous = 0, 0.0
    for size in large:
        if size < previous - 0.5 or not previous:
            level, previous = level + 1, size
        levels[size] = min(level, 6)
    return levels


def _body_size(pages: Iterable[Page]) -> float:
    characters: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            characters[line.size] += len(line.text)
    return max(characters, key=lambda size: (characters[size], size), default=0.0)


def page_pieces(page: Page, words: Collection[str], sizes: dict[float, int]) -> list[Piece]:
    """Paragraphs and headings of a page, in order."""
    pieces: list[Piece] = []
    group: list[Line] = []
    right = max((line.right for line in page.lines), default=0.0)
    step = _line_step(page.lines)
    tight = False
    for line in page.lines:
        if group:
            breaks = _breaks(group, line, right, step, sizes)
            if breaks:
                pieces.append(_piece(group, words, sizes, tight=tight))
                tight = breaks == "line"
                group = []
        group.append(line)
    if group:
        pieces.append(_piece(group, words, sizes, tight=tight))
    return pieces


def _piece(group: Sequence[Line], words: Collection[str], sizes: dict[float, int], *, tight: bool) -> Piece:
    text = ""
    for line in group:
        text = joined(text, line.text, words)
    text = text.replace(HYPHEN, "-")
    level = sizes.get(group[0].size, 0) if _can_be_heading(text) else 0
    return Piece(text, level, tight and not level, group[0].size)


def _can_be_heading(text: str) -> bool:
    return len(text) <= _HEADING_CHARACTERS and any(character.isalpha() for character in text)


def _line_step(lines: Sequence[Line]) -> float:
    """From line to line inside a paragraph: the lower quartile, as gaps between paragraphs are wider."""
    steps = [above.bottom - line.bottom for above, line in pairwise(lines)]
    downward = sorted(step for step in steps if 0 < step < 60)
    return downward[len(downward) // 4] if downward else 0.0


def _breaks(group: Sequence[Line], line: Line, right: float, step: float, sizes: dict[float, int]) -> str:
    """What lies between two lines: ``""`` (one paragraph), ``line`` (a list item, a row), ``paragraph``."""
    above = group[-1]
    if sizes.get(above.size, 0) != sizes.get(line.size, 0):
        return "paragraph"
    if above.text.endswith(HYPHEN):
        return ""
    ended = _END.search(above.text) is not None
    down = above.bottom - line.bottom
    if down < -step:  # the next column, or a part that stands elsewhere
        return "paragraph" if ended or not line.text[:1].islower() else ""
    indented = line.left - group[0].left > 4 and len(group) > 1 and not _ITEM.match(group[0].text)
    if down > 1.6 * max(step, line.top - line.bottom) or (ended and indented):
        return "paragraph"
    # A line that was left short on purpose ends an item or a row.
    short = above.right < above.left + 0.8 * (right - above.left) and not line.text[:1].islower()
    return "line" if short or _ITEM.match(line.text) else ""


def joined(text: str, line: str, words: Collection[str]) -> str:
    """Two lines of a paragraph as one; a word broken between them is made whole.

    The hyphen stays if the word is written with it inside a line elsewhere, or if Russian always
    writes it («какой-либо»), or if what follows is a name or a number.
    """
    if not text:
        return line
    if text.endswith(HYPHEN):
        text = f"{text[:-1]}-"
    elif not text.endswith(_VISIBLE_HYPHENS):
        return f"{text} {line}"
    stem = text[:-1]
    head, tail = _LAST_PART.search(stem), _FIRST_PART.match(line)
    if head is None:
        return f"{text} {line}" if stem[-1:].isspace() else text + line
    if tail is None or not tail.group().islower() or _keeps_hyphen(head.group(), tail.group(), words):
        return f"{stem}-{line}"
    return stem + line


def _keeps_hyphen(head: str, tail: str, words: Collection[str]) -> bool:
    head, tail = head.casefold(), tail.casefold()
    if f"{head}-{tail}" in words:
        return True
    if head + tail in words:
        return False
    return tail in _HYPHENATED_TAILS or head in _HYPHENATED_HEADS
