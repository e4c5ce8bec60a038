"""Where text may be cut without breaking a character that a person sees.

A small subset of Unicode UAX #29 (extended grapheme clusters): combining marks, variation
selectors, emoji modifiers and tags, zero-width joiner sequences and pairs of regional indicators.
"""

from __future__ import annotations

import unicodedata

__all__ = ["is_boundary", "last_boundary"]

_JOINER = "\u200d"


def is_boundary(text: str, position: int) -> bool:
    """True if ``text`` may be cut before ``position``."""
    if position <= 0 or position >= len(text):
        return True
    before, after = text[position - 1], text[position]
    if after.isascii() and before != _JOINER:
        return True
    if before == _JOINER or _extends(after):
        return False
    if _is_regional(before) and _is_regional(after):
        return _regionals_before(text, position) % 2 == 0
    return True


def last_boundary(text: str, position: int) -> int:
    """The last place at or before ``position`` where text may be cut; 0 if there is none."""
    while not is_boundary(text, position):
        position -= 1
    return position


def _extends(character: str) -> bool:
    code = ord(character)
    return (
        character in (_JOINER, "\u200c")
        or 0x1F3FB <= code <= 0x1F3FF
        or 0xE0020 <= code <= 0xE007F
        or unicodedata.category(character) in ("Mn", "Mc", "Me")
    )


def _is_regional(character: str) -> bool:
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _regionals_before(text: str, position: int) -> int:
    count = 0
    while count < position and _is_regional(text[position - 1 - count]):
        count += 1
    return count
