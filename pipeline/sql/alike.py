"""Words that are forms of one though their stems differ: «отгрузок» and «отгрузки»."""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["known_as"]

MIN_STEM = 4
"""Letters that words have in common at least, if they are to be forms of one."""

LONG_STEM = 6
"""A shorter term that the schema has is nothing but itself."""


def known_as(term: str, vocabulary: Collection[str]) -> list[str]:
    """A term as the schema has it: itself, or what begins alike («отгрузок», «отгрузки»)."""
    exact = [term] if term in vocabulary else []
    if exact and len(term) < LONG_STEM:
        return exact
    kin = {word: _alike(term, word) for word in vocabulary if word != term}
    longest = max(kin.values(), default=0)
    return exact + sorted(word for word, length in kin.items() if length and length == longest)


def _alike(first: str, second: str) -> int:
    """Letters that two terms have in common at their beginning; 0 where it is too few to mean the same."""
    length = next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
    common = min(len(first), len(second)) if length is None else length
    return common if common >= MIN_STEM and common >= max(len(first), len(second)) - 2 else 0
