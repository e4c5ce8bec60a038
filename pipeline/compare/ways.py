"""One way through the search: a strategy and what orders its finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.settings import SearchSettings
from pipeline.strategies import RERANKERS, STRATEGIES, settled

__all__ = ["WHOLE", "Way", "default_way", "every_way", "ways_of"]


@dataclass(frozen=True, slots=True, order=True)
class Way:
    """Names as `pipeline.strategies` registers them."""

    strategy: str
    reranker: str

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.strategy} + {self.reranker}"


WHOLE = Way("none", "none")
"""What a saving is counted from: the model reads all there is room for."""


def default_way(search: SearchSettings) -> Way:
    """What a question gets that asks for nothing."""
    strategy, reranker = settled(search.strategy, search.reranker)
    return Way(strategy.name, reranker.name)


def ways_of(strategies: Sequence[str], rerankers: Sequence[str]) -> tuple[Way, ...]:
    """The ways that strategies and rerankers come to.

    Args:
        strategies: Names; none for all.
        rerankers: Names; none for what suits each strategy.

    Raises:
        InvalidRequestError: A name is unknown.
    """
    pairs = [
        settled(strategy, reranker)
        for strategy in strategies or STRATEGIES.names()
        for reranker in rerankers or ("",)
    ]
    return tuple(dict.fromkeys(Way(strategy.name, reranker.name) for strategy, reranker in pairs))


def every_way() -> tuple[Way, ...]:
    """Every strategy with every reranker."""
    return ways_of((), RERANKERS.names())
