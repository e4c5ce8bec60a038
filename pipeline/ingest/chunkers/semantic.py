"""``semantic``: cut where the topic shifts, told by late interaction between neighbouring sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.ingest.chunkers.body import Body, Range
from pipeline.ingest.chunkers.packing import pack
from pipeline.ingest.chunkers.shift import border_similarities
from pipeline.ingest.chunkers.units import Unit, sentence_units

__all__ = ["best_borders", "by_topic_shift"]

_SMALL = 0.25  # a chunk below this part of the budget says too little alone
_CRUMB_PRICE = 3.0
_SHIFT = 1.0  # standard deviations below the mean similarity from where a border is a topic shift


def by_topic_shift(body: Body) -> Iterator[Range]:
    """Cut at the borders where the two sides are least alike; see `body.Strategy`.

    Costs a pass of the embedder over every block that could be more than one chunk. Nothing is shared
    between neighbours.
    """
    units = sentence_units(body, body.budget)
    if len(units) < 2 or body.count(units[0].start, units[-1].end) < 2 * _SMALL * body.budget:
        yield from pack(body, units, body.budget)
        return
    first = 0
    for after in best_borders(units, _prices(border_similarities(body, units)), body.budget):
        yield from pack(body, units[first:after], body.budget)
        first = after


def best_borders(units: Sequence[Unit], prices: NDArray[np.float32], budget: int) -> list[int]:
    """Where chunks end (numbers of units, the last one included) for the lowest price in all.

    Args:
        units: Pieces in order, each within the budget.
        prices: float32, shape (units - 1,): of a cut after each unit but the last; below 0 it is a gain.
        budget: Tokens of a chunk at most.
    """
    small = budget * _SMALL
    best = [0.0] + [float("inf")] * len(units)
    origin = [0] * (len(units) + 1)
    for after in range(1, len(units) + 1):
        cut = float(prices[after - 1]) if after < len(units) else 0.0
        size = 0
        for first in range(after - 1, -1, -1):
            size += units[first].tokens
            if first < after - 1 and (size > budget or after - first > budget):
                break
            crumb = _CRUMB_PRICE * max(1 - size / small, 0.0)
            price = best[first] + cut + crumb
            if price < best[after]:
                best[after], origin[after] = price, first
    ends = [len(units)]
    while origin[ends[-1]] > 0:
        ends.append(origin[ends[-1]])
    return ends[::-1]


def _prices(similarities: NDArray[np.float32]) -> NDArray[np.float32]:
    """What a cut costs: its similarity in standard deviations of its block, a clear shift being a gain."""
    spread = float(similarities.std())
    if spread < 1e-6:
        return np.full(len(similarities), _SHIFT, np.float32)
    return np.asarray((similarities - similarities.mean()) / spread + _SHIFT, np.float32)
