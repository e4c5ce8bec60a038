"""How good a ranking of sources is, question by question.

What is right are *places*: the passages a question names, else its files. A second source from the same place
adds nothing to hits, recall, MRR and nDCG, but is as right as the first one for precision. All but hits and
MRR are worked out by ``ir-measures`` (MacAvaney, Macdonald and Ounis, ECIR 2022), the extra ``eval``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ir_measures import Measure

__all__ = ["Ranking", "has_library", "ranking_values"]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The sources of one question.

    Attributes:
        right: For each source, best first, the number of the right place it is from, or None.
        places: How many right places there are, at least 1.
    """

    right: tuple[int | None, ...]
    places: int

    @property
    def rank(self) -> int | None:
        """Of the first right source, from 1."""
        return next((rank for rank, place in enumerate(self.right, start=1) if place is not None), None)


def has_library() -> bool:
    """True if ``ir-measures`` is installed."""
    return find_spec("ir_measures") is not None


def ranking_values(rankings: Mapping[str, Ranking], ks: Sequence[int]) -> dict[str, dict[str, float]]:
    """Measure -> question -> value.

    Args:
        rankings: Those of the answerable questions, by any key.
        ks: Places that are counted to; past the first place recall, precision and nDCG are given too.
    """
    values: dict[str, dict[str, float]] = {}
    for k in ks:
        values[f"hit@{k}"] = {
            key: float(one.rank is not None and one.rank <= k) for key, one in rankings.items()
        }
    values["mrr"] = {key: 1 / one.rank if one.rank else 0.0 for key, one in rankings.items()}
    if rankings and has_library():
        values |= _by_library(rankings, [k for k in ks if k > 1])
    return values


def _by_library(rankings: Mapping[str, Ranking], ks: Sequence[int]) -> dict[str, dict[str, float]]:
    from ir_measures import P, R, nDCG

    once = {key: _documents(one, again=False) for key, one in rankings.items()}
    each = {key: _documents(one, again=True) for key, one in rankings.items()}
    values: dict[str, dict[str, float]] = {}
    for k in ks:
        values[f"recall@{k}"] = _calculated(R @ k, once)
        values[f"precision@{k}"] = _calculated(P @ k, each)
        values[f"ndcg@{k}"] = _calculated(nDCG @ k, once)
    return values


_Documents = tuple[dict[str, int], dict[str, float]]
"""What is right, and what was found with falling scores."""


def _documents(ranking: Ranking, *, again: bool) -> _Documents:
    """With ``again`` every source is a document, else every right place is one, wherever it comes first."""
    right = {f"place-{place}": 1 for place in range(ranking.places)}
    found: dict[str, float] = {}
    for rank, place in enumerate(ranking.right, start=1):
        name = f"place-{place}"
        if place is None or name in found:
            name = f"source-{rank}"
            if place is not None and again:
                right[name] = 1
        found[name] = -float(rank)
    return right, found


def _calculated(measure: Measure, documents: Mapping[str, _Documents]) -> dict[str, float]:
    from ir_measures import iter_calc

    qrels = {key: right for key, (right, _) in documents.items()}
    run = {key: found for key, (_, found) in documents.items() if found}
    values = dict.fromkeys(documents, 0.0)  # a question without sources is none to the library
    values |= {metric.query_id: float(metric.value) for metric in iter_calc([measure], qrels, run)}
    return values
