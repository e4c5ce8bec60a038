"""Fenced code of Markdown, line by line."""

from __future__ import annotations

import re

__all__ = ["FenceTracker"]

_FENCE = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?(?P<mark>`{3,}|~{3,})(?P<rest>.*)")


class FenceTracker:
    """Tells for each line, given in order, whether it belongs to fenced code."""

    def __init__(self) -> None:
        self._mark = ""

    def is_code(self, line: str) -> bool:
        """True for a line inside a fence and for the fence lines themselves."""
        match = _FENCE.match(line)
        mark, rest = (match["mark"], match["rest"]) if match else ("", "")
        if not self._mark:
            # ```` `a` ``` ```` on one line is inline code, not the start of a block.
            self._mark = "" if mark.startswith("`") and "`" in rest else mark
            return bool(self._mark)
        if mark.startswith(self._mark) and not rest.strip():
            self._mark = ""
        return True
