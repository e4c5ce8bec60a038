"""Flags of a question: whole words at its end, the letter flags at its very start too.

``-s`` scores, ``-t`` timings, ``-1`` … ``-9`` sources for the generator, and a flag for every way to search
and to order that is registered in `pipeline.strategies`: ``-k`` keyword search only, ``-ce`` cross-encoder…
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.strategies import RERANKERS, STRATEGIES, letter_flags
from pipeline.text.normalise import clean_text

__all__ = ["ParsedFlags", "parse_flags"]

_NUMBER_FLAGS = frozenset(f"-{number}" for number in range(1, 10))
_STOP = "--"
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class ParsedFlags:
    """A question without its flags, and what the flags ask for.

    Attributes:
        text: The question word for word, empty if there were flags only.
        flags: The flags as written, in order.
        strategy: Name of the way to search if asked for (the later flag wins), else None.
        reranker: Name of the way to order likewise.
        sources_limit: 1..9 if asked for (the later flag wins), else None.
    """

    text: str
    flags: tuple[str, ...] = ()
    scores: bool = False
    timings: bool = False
    strategy: str | None = None
    reranker: str | None = None
    sources_limit: int | None = None


def parse_flags(text: str) -> ParsedFlags:
    """Read the flags of a question.

    ``--`` ends flag reading and is dropped: at the start nothing after it is a flag, among the
    words at the end none of them is. Flag-like words inside the question, unknown flags, other
    letter case and punctuation attached to a flag (``-s?``) are text.

    Args:
        text: The question as it came; control characters and the like are cleaned first.
    """
    text, letters = clean_text(text), letter_flags()
    words = [(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]
    first = 0
    while first < len(words) and words[first][0] in letters:
        first += 1
    flags = [word for word, _, _ in words[:first]]
    if first < len(words) and words[first][0] == _STOP:
        return _parsed(text[words[first][2] :].strip(), flags)
    last, known = len(words), letters | _NUMBER_FLAGS | {_STOP}
    while last > first and words[last - 1][0] in known:
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
    numbers = [int(flag[1:]) for flag in flags if flag in _NUMBER_FLAGS]
    return ParsedFlags(
        text=text,
        flags=tuple(flags),
        scores="-s" in flags,
        timings="-t" in flags,
        strategy=_last(flags, STRATEGIES.flags()),
        reranker=_last(flags, RERANKERS.flags()),
        sources_limit=numbers[-1] if numbers else None,
    )


def _last(flags: Sequence[str], names: Mapping[str, str]) -> str | None:
    return next((names[flag] for flag in reversed(flags) if flag in names), None)
