"""Whether the markers of an answer lead where they say, checked without trusting the server that set them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.types import Reply, SourceView

__all__ = ["Citing", "citing", "without_markers"]

_MARKER = re.compile(r"\s*\[(\d{1,3})\](?!\()")


@dataclass(frozen=True, slots=True)
class Citing:
    """The markers of one answer.

    Attributes:
        markers: How many there are.
        valid: Those that name a source of the reply and have a citation, whose words stand in that
            source's document at the place it tells.
    """

    markers: int
    valid: int


def citing(reply: Reply, look_up: Callable[[str], SourceView]) -> Citing:
    """Look at every marker of a reply.

    Args:
        reply: With its citations.
        look_up: The passage with this id, in its document.
    """
    sources = {source.n: source.chunk_id for source in reply.sources}
    sound: set[int] = set()
    unsound: set[int] = set()
    for citation in reply.answer.citations:
        right = sources.get(citation.n) == citation.chunk_id
        if right:
            document = look_up(citation.chunk_id).document
            right = bool(citation.quote) and document.text[citation.start : citation.end] == citation.quote
        (sound if right else unsound).add(citation.n)
    numbers = [int(match[1]) for match in _MARKER.finditer(reply.answer.text)]
    return Citing(len(numbers), sum(n in sound and n not in unsound for n in numbers))


def without_markers(text: str) -> str:
    """The text without its markers."""
    return _MARKER.sub("", text)
