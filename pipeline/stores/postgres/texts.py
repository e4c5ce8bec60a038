"""Texts as PostgreSQL takes them: it has no character U+0000, and UTF-8 has no lone surrogates.

Both come back as they were. What stands for them is written with U+FDD0, a code point that Unicode keeps for
the inner use of programs and that no document holds; if one does, it comes back too.
"""

from __future__ import annotations

import re

__all__ = ["ESCAPE", "from_postgres", "to_postgres"]

ESCAPE = "\ufdd0"
_FOREIGN = re.compile("[\x00\ufdd0\ud800-\udfff]")
ESCAPED = re.compile("\ufdd0([0-9a-f]{4})")


def to_postgres(text: str) -> str:
    """The text with nothing in it that PostgreSQL refuses."""
    if _FOREIGN.search(text) is None:
        return text
    return _FOREIGN.sub(lambda found: f"{ESCAPE}{ord(found.group()):04x}", text)


def from_postgres(text: str) -> str:
    """The text that `to_postgres` was given."""
    if ESCAPE not in text:
        return text
    return ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), text)
