"""From the bytes an engine yields to text that is safe to show at once."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

__all__ = ["TextStream"]


class TextStream:
    """Joins byte pieces into whole characters and ends the text at a stop string.

    A token may end in the middle of a character, and a stop string may be spread over several
    tokens: both are held back until it is clear what they are.

    Args:
        stop: Strings that end the text; they never come out, not even in part.
    """

    def __init__(self, stop: Sequence[str] = ()) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._stop = tuple(text for text in stop if text)
        self._held = ""
        self._stopped = False

    @property
    def stopped(self) -> bool:
        """True once a stop string has come; nothing follows it."""
        return self._stopped

    def push(self, piece: bytes) -> str:
        """Text that became certain with this piece; often empty."""
        return self._take(self._decoder.decode(piece))

    def close(self) -> str:
        """The rest, when no more pieces come; an unfinished character is dropped, not shown broken."""
        self._decoder.reset()
        rest, self._held = self._held, ""
        return "" if self._stopped else rest

    def _take(self, text: str) -> str:
        if self._stopped:
            return ""
        self._held += text
        found = [at for at in (self._held.find(stop) for stop in self._stop) if at >= 0]
        if found:
            self._stopped = True
            ready, self._held = self._held[: min(found)], ""
            return ready
        keep = max((_overlap(self._held, stop) for stop in self._stop), default=0)
        ready = self._held[: len(self._held) - keep]
        self._held = self._held[len(ready) :]
        return ready


def _overlap(text: str, stop: str) -> int:
    """Length of the longest proper prefix of ``stop`` that ``text`` ends with."""
    return next((n for n in range(min(len(stop) - 1, len(text)), 0, -1) if text.endswith(stop[:n])), 0)
