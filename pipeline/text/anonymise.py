"""Links and addresses replaced by a word, for the text that is embedded and for nothing else.

An address costs dozens of tokens and says little about meaning. The replacement remembers where
every character came from, so that token spans can be given in the original text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from pipeline.types import IntMatrix

__all__ = ["Anonymised", "anonymise"]

_PATTERN = re.compile(
    r"(?P<email>(?:mailto:)?[\w.+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63})+)"
    r"|(?P<link>(?:(?:https?|ftp|file|data)://?|data:[\w/+.\-]+[;,]|www\.)[^\s<>«»\"'`|]+)",
    re.IGNORECASE,
)
_TRAILING = ".,;:!?…"


@dataclass(frozen=True, slots=True)
class Anonymised:
    """The changed text and where its pieces come from.

    Attributes:
        text: Text with ``[link]`` and ``[email]``.
        edits: For each replacement (start, end) in ``text`` and (start, end) in the original.
    """

    text: str
    edits: tuple[tuple[int, int, int, int], ...] = ()

    def to_original(self, spans: IntMatrix) -> IntMatrix:
        """Spans of ``text``, int32 (n, 2), as spans of the original.

        A span that touches a replacement covers everything that was replaced.
        """
        if not self.edits:
            return spans
        edits = np.array(self.edits, dtype=np.int32)
        result = np.empty_like(spans)
        result[:, 0] = _moved(spans[:, 0], edits, right=False)
        result[:, 1] = _moved(spans[:, 1], edits, right=True)
        return result


def anonymise(text: str) -> Anonymised:
    """Replace links by ``[link]`` and e-mail addresses by ``[email]``."""
    if "@" not in text and ":" not in text and "www." not in text.lower():
        return Anonymised(text)
    pieces: list[str] = []
    edits: list[tuple[int, int, int, int]] = []
    done = length = 0
    for match in _PATTERN.finditer(text):
        start, end = match.start(), _link_end(text, match.start(), match.end())
        word = "[email]" if match["email"] else "[link]"
        pieces += (text[done:start], word)
        length += start - done
        edits.append((length, length + len(word), start, end))
        length += len(word)
        done = end
    pieces.append(text[done:])
    return Anonymised("".join(pieces), tuple(edits))


def _link_end(text: str, start: int, end: int) -> int:
    """Closing punctuation after a link belongs to the sentence, not to the link."""
    while end > start + 1:
        last = text[end - 1]
        unpaired = (last == ")" and text.count("(", start, end) < text.count(")", start, end)) or (
            last == "]" and text.count("[", start, end) < text.count("]", start, end)
        )
        if last not in _TRAILING and not unpaired:
            break
        end -= 1
    return end


def _moved(positions: IntMatrix, edits: IntMatrix, *, right: bool) -> IntMatrix:
    """New positions; those inside a replacement go to its start, or to its end if ``right``."""
    # The last edit that begins before a position (for right ends: strictly before).
    row = np.searchsorted(edits[:, 0], positions, side="left" if right else "right") - 1
    before_all = row < 0
    edit = edits[np.maximum(row, 0)]
    inside = positions <= edit[:, 1] if right else positions < edit[:, 1]
    moved = np.where(inside, edit[:, 3] if right else edit[:, 2], positions + edit[:, 3] - edit[:, 1])
    return np.where(before_all, positions, moved).astype(np.int32)
