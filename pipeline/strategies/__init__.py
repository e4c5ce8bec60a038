"""Ways to search and ways to order what was found: named, described, and registered in one place each.

One call of `STRATEGIES.add` (or `RERANKERS.add`) and the new way has a request field, a flag, a value of the
setting, a line of ``GET /strategies``, of the contract, of the page, of ``otvet compare`` and of the
documentation.
"""

from __future__ import annotations

from pipeline.strategies.ordering import COVERAGE_WEIGHT, RERANKERS, Reranking
from pipeline.strategies.registry import About, Registry
from pipeline.strategies.searching import DEFAULT_STRATEGY, STRATEGIES, Strategy

__all__ = [
    "COVERAGE_WEIGHT",
    "DEFAULT_STRATEGY",
    "RERANKERS",
    "STRATEGIES",
    "About",
    "Registry",
    "Reranking",
    "Strategy",
    "letter_flags",
    "settled",
]

_OTHER_FLAGS = ("-s", "-t")


def letter_flags() -> frozenset[str]:
    """All flags that are no numbers: those of the strategies and rerankers, scores and timings."""
    return frozenset((*_OTHER_FLAGS, *STRATEGIES.flags(), *RERANKERS.flags()))


def settled(strategy: str, reranker: str) -> tuple[Strategy, Reranking]:
    """Both by name; an empty reranker is the one that suits the strategy.

    Raises:
        InvalidRequestError: There is no such thing.
    """
    found = STRATEGIES[strategy]
    return found, RERANKERS[reranker or found.reranker]
