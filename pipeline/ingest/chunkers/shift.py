"""How far two neighbouring stretches are about the same, by late interaction.

The score of ColBERT (O. Khattab and M. Zaharia, 2020) taken both ways: every token looks for its nearest
one on the other side, and the mean of those cosines is the similarity.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.ingest.chunkers.body import Body
from pipeline.ingest.chunkers.units import Unit
from pipeline.types import FloatMatrix

__all__ = ["border_similarities"]

_SIDE_TOKENS = 64  # about three sentences: less is noise, more blurs the place of a shift


def border_similarities(body: Body, units: Sequence[Unit]) -> NDArray[np.float32]:
    """Similarity of what stands before and after every border between units.

    Only the token vectors near a border are held, however long the block.

    Returns:
        float32, shape (units - 1,), cosines; 0 where one side has no tokens.
    """
    found = np.zeros(max(len(units) - 1, 0), np.float32)
    held: deque[tuple[int, FloatMatrix]] = deque()
    border = 1
    for number, vectors in enumerate(_tokens(body, units)):
        held.append((number, vectors))
        while border <= number and (number + 1 == len(units) or _enough(held, border)):
            found[border - 1] = _similarity(held, border)
            border += 1
            while len(held) > 1 and _enough(held, held[1][0], border):
                held.popleft()
    return found


def _enough(held: Iterable[tuple[int, FloatMatrix]], first: int, end: int | None = None) -> bool:
    """True if the held units from ``first``, up to ``end``, are all that one side looks at."""
    side = (len(vectors) for number, vectors in held if number >= first and (end is None or number < end))
    return sum(side) >= _SIDE_TOKENS


def _similarity(held: Sequence[tuple[int, FloatMatrix]], border: int) -> float:
    before = _side([vectors for number, vectors in held if number < border][::-1])
    after = _side([vectors for number, vectors in held if number >= border])
    if not before or not after:
        return 0.0
    cosines = np.concatenate(before) @ np.concatenate(after).T
    return float(cosines.max(axis=0).mean() + cosines.max(axis=1).mean()) / 2


def _side(tokens: Iterable[FloatMatrix]) -> list[FloatMatrix]:
    """The units of one side, the nearest first, as many as say enough."""
    side: list[FloatMatrix] = []
    size = 0
    for vectors in tokens:
        if size >= _SIDE_TOKENS:
            break
        if len(vectors):
            side.append(vectors)
            size += len(vectors)
    return side


def _tokens(body: Body, units: Sequence[Unit]) -> Iterator[FloatMatrix]:
    """Token vectors of every unit, from passes over as many neighbours as the embedder takes at once."""
    for first, after in _stretches(body, units):
        start, end = units[first].start, units[after - 1].end
        if not body.fits(start, end, body.room):  # one visible character of very many tokens
            yield np.zeros((0, 1), np.float32)
            continue
        passed = body.vectors(start, end)
        places = np.searchsorted(passed.spans[:, 0], [(unit.start, unit.end) for unit in units[first:after]])
        for begin, finish in places:
            yield passed.vectors[begin:finish]


def _stretches(body: Body, units: Sequence[Unit]) -> Iterator[tuple[int, int]]:
    first = 0
    for after in range(1, len(units) + 1):
        if after == len(units) or not body.fits(units[first].start, units[after].end, body.room):
            yield first, after
            first = after
