"""Sentence borders in Russian and English text, Markdown and code included.

A line that stands on its own (list item, table row, heading, line of code) is never joined with
its neighbours; wrapped lines of a paragraph are. Inside a paragraph a sentence ends at ``.!?…``
followed by space and a capital letter or digit, unless an abbreviation or initial explains the dot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.text.fences import FenceTracker

__all__ = ["split_sentences"]

Span = tuple[int, int]

# After these a sentence never ends.
_NEVER_WORDS = """
т.е т.к т.н т.о т.ч г ул ст д кв корп стр пр-т пер пл им см ср рис табл гл п пп ч абз напр прим проф акад
доц канд тел факс обл р-н с пос дер наб ш бул св тов гр г-н г-жа зам зав
ум род ок изд ред пер под акц юр физ эл
dr mr mrs ms prof st sr gen col fig figs sec ch no nos vol p pp e.g i.e vs cf approx dept ca
"""
# After these it ends if a capital letter follows.
_SOMETIMES_WORDS = """
т.д т.п др пр проч гг вв в н.э руб коп тыс млн млрд экз чел шт мин сек час кг км мм
etc al a.m p.m inc ltd co corp jr u.s u.k
"""
_NEVER = frozenset(_NEVER_WORDS.split())
_SOMETIMES = frozenset(_SOMETIMES_WORDS.split())
# These end it only after a number: «в 2024 г. Затем», but «г. Москва».
_YEAR_LIKE = frozenset(("г", "с", "ч", "д", "п", "ст", "см", "мин"))

_CANDIDATE = re.compile(r"""(?:(?<![.!?…])[.!?…]++["»”’')\]*_`]*+(?=\s))|[。！？]++""")
_HAS_WORD = re.compile(r"\w")
_WORD_BEFORE = re.compile(r"[\w.\-]+$")
_NEAR = 40  # characters around a dot that decide about it; whole paragraphs would take quadratic time
_OPENING = "«\"“‘'([{—–-*_`>„ \t\n"
_WHOLE_LINE = re.compile(r"^\s*(?:#{1,6}\s|\|)")
_NEW_ITEM = re.compile(r"^\s*(?:[-*+•–—]\s|[a-zа-яё]\)\s|>|\[)", re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*(?P<number>\d{1,3})[.)]\s")
_WRAPPED_LINE = 50  # a line this long without an end of sentence was wrapped by an editor


def split_sentences(text: str) -> list[Span]:
    """Character ranges of the sentences of ``text``, in order.

    Ranges don't overlap, start and end on non-space characters, and together hold every
    non-space character of the text.
    """
    spans: list[Span] = []
    for start, end, whole in _segments(text):
        pieces = [(start, end)] if whole else _split_paragraph(text, start, end)
        spans.extend(span for piece in pieces if (span := _trim(text, *piece)) is not None)
    return spans


def _segments(text: str) -> Iterator[tuple[int, int, bool]]:
    """Paragraphs and lines that stand on their own: (start, end, must not be split)."""
    fences = FenceTracker()
    begin: int | None = None
    opening = previous = ""
    position = 0
    for line in text.splitlines(keepends=True):
        start, end = position, position + len(line)
        position = end
        alone = fences.is_code(line) or bool(_WHOLE_LINE.match(line))
        if begin is not None and (alone or not line.strip() or not _continues(opening, previous, line)):
            yield begin, start, False
            begin = None
        if alone:
            yield start, end, True
        elif line.strip() and begin is None:
            begin, opening = start, line
        previous = line
    if begin is not None:
        yield begin, len(text), False


def _continues(opening: str, previous: str, line: str) -> bool:
    """True if ``line`` goes on with the paragraph that ``opening`` began and ``previous`` ended so far."""
    before, after = previous.rstrip(), line.lstrip()
    number = _NUMBERED.match(line)
    if number:
        # As in CommonMark, a number that is not 1 makes a list only where a list may be: «O\n2. …».
        in_list = _NUMBERED.match(opening) or number["number"] == "1"
        return not in_list and before[-1] not in ".!?…:;"
    if _NEW_ITEM.match(line):
        return False
    if after[0].islower() or before[-1] in ",-–—(":
        return True
    return len(before) >= _WRAPPED_LINE and before[-1] not in ":;|"


def _split_paragraph(text: str, start: int, end: int) -> list[Span]:
    ends = [
        match.end()
        for match in _CANDIDATE.finditer(text, start, end)
        if _ends_sentence(text, start, match.start(), match.end(), end)
    ]
    pieces: list[Span] = []
    for place in (*ends, end):
        begin = pieces[-1][1] if pieces else start
        if pieces and not _HAS_WORD.search(text, begin, place):
            pieces[-1] = (pieces[-1][0], place)  # a lone sign belongs to what it follows
        else:
            pieces.append((begin, place))
    return pieces


def _ends_sentence(text: str, begin: int, dot: int, after: int, end: int) -> bool:
    mark = text[dot:after]
    if mark[0] in "。！？":
        return True
    following = next((c for c in text[after : min(end, after + _NEAR)] if c not in _OPENING), "")
    if not following or following.islower():
        return not following
    if not mark.startswith(".") or mark.startswith(".."):
        return True
    near = max(begin, dot - _NEAR)
    word = _WORD_BEFORE.search(text, near, dot)
    return word is None or _dot_ends_sentence(text[near : word.start()], word.group(), following)


def _dot_ends_sentence(before: str, word: str, following: str) -> bool:
    key = word.lower()
    if all(len(part) == 1 and part.isupper() for part in word.split(".")):
        return False  # initials
    if word.isdigit() and not before.strip(" \t\n>*-+#"):
        return False  # the number of a list item
    after_number = before.rstrip()[-1:].isdigit()
    if key in _SOMETIMES or (key in _YEAR_LIKE and after_number):
        return following.isupper()
    return key not in _NEVER


def _trim(text: str, start: int, end: int) -> Span | None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    right = len(piece.rstrip())
    return (start + left, start + right) if right > left else None
