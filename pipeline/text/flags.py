"""Flags of a question: whole words at its end, the letter flags at its very start too.

``-s`` scores, ``-ce`` cross-encoder, ``-k`` keyword search only, ``-d`` dense only, ``-t``
timings, ``-1`` … ``-9`` sources for the generator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.text.normalise import clean_text
from pipeline.types import SearchMode

__all__ = ["ParsedFlags", "parse_flags"]

_LETTER_FLAGS = frozenset(("-s", "-ce", "-k", "-d", "-t"))
_NUMBER_FLAGS = frozenset(f"-{number}" for number in range(1, 10))
_FLAGS = _LETTER_FLAGS | _NUMBER_FLAGS
_STOP = "--"
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class ParsedFlags:
    """A question without its flags, and what the flags ask for.

    Attributes:
        text: The question word for word, empty if there were flags only.
        flags: The flags as written, in order.
        mode: ``keyword`` or ``dense`` if asked for (the later flag wins), else None.
        sources_limit: 1..9 if asked for (the later flag wins), else None.
    """

    text: str
    flags: tuple[str, ...] = ()
    scores: bool = False
    cross_encoder: bool = False
    timings: bool = False
    mode: SearchMode | None = None
    sources_limit: int | None = None


def parse_flags(text: str) -> ParsedFlags:
    """Read the flags of a question.

    ``--`` ends flag reading and is dropped: at the start nothing after it is a flag, among the
    words at the end none of them is. Flag-like words inside the question, unknown flags, other
    letter case and punctuation attached to a flag (``-s?``) are text.

    Args:
        text: The question as it came; control characters and the like are cleaned first.
    """
    text = clean_text(text)
    words = [(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]
    first = 0
    while first < len(words) and words[first][0] in _LETTER_FLAGS:
        first += 1
    flags = [word for word, _, _ in words[:first]]
    if first < len(words) and words[first][0] == _STOP:
        return _parsed(text[words[first][2] :].strip(), flags)
    last = len(words)
    while last > first and words[last - 1][0] in _FLAGS | {_STOP}:
        last -= 1
    tail = words[last:]
    stops = [place for place, (word, _, _) in enumerate(tail) if word == _STOP]
    if stops:
        _, start, end = tail[stops[0]]
        begin = words[first][1]
        return _parsed(f"{text[begin:start].rstrip()} {text[end:].strip()}".strip(), flags)
    flags += [word for word, _, _ in tail]
    return _parsed(text[words[first][1] : words[last - 1][2]] if last > first else "", flags)


def _parsed(text: str, flags: list[str]) -> ParsedFlags:
    modes: dict[str, SearchMode] = {"-k": "keyword", "-d": "dense"}
    asked_modes = [modes[flag] for flag in flags if flag in modes]
    numbers = [int(flag[1:]) for flag in flags if flag in _NUMBER_FLAGS]
    return ParsedFlags(
        text=text,
        flags=tuple(flags),
        scores="-s" in flags,
        cross_encoder="-ce" in flags,
        timings="-t" in flags,
        mode=asked_modes[-1] if asked_modes else None,
        sources_limit=numbers[-1] if numbers else None,
    )
