"""How far a misspelt word is from a word: letters put in, left out, changed or swapped."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["distance_within", "typos_allowed"]


def typos_allowed(word: str) -> int:
    """How many letters of a word of this length may be wrong: none up to 3 letters, then 1, from 8 on 2."""
    return 0 if len(word) < 4 else 1 if len(word) < 8 else 2


@lru_cache(maxsize=100_000)
def distance_within(first: str, second: str, most: int) -> int | None:
    """Damerau's distance (adjacent letters swapped count once), or None where it is over ``most``."""
    if abs(len(first) - len(second)) > most:
        return None
    if first == second:
        return 0
    before: list[int] = []
    row = list(range(len(second) + 1))
    for place, letter in enumerate(first, start=1):
        older, before = before, row
        row = [place]
        for other_place, other in enumerate(second, start=1):
            best = min(
                before[other_place] + 1,
                row[other_place - 1] + 1,
                before[other_place - 1] + (letter != other),
            )
            swapped = (
                place > 1
                and other_place > 1
                and letter == second[other_place - 2]
                and first[place - 2] == other
            )
            if swapped:
                best = min(best, older[other_place - 2] + 1)
            row.append(best)
        if min(row) > most and min(before) > most:
            return None
    return row[-1] if row[-1] <= most else None
