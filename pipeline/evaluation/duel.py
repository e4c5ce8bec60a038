"""Choosing the faster of several ways by measuring, so that noise does not choose."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Budget", "Duel", "Referee"]

T = TypeVar("T")

ROUNDS = 3
"""Comparisons a challenger has to win, every one of them."""

CLEAR = 1.05
"""How many times faster it must be in the middle one of them."""

HOPELESS = 1.02
"""A first comparison below this ends the duel: nothing that matters is lost."""


class Budget:
    """Time that may be spent; nothing is begun that is likely not to fit.

    Args:
        seconds: How much there is.
        clock: Seconds from any moment on.
    """

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until = clock() + seconds
        self._longest = 0.0

    def allows(self) -> bool:
        """True while one more of the longest run so far fits."""
        return self._clock() + self._longest <= self._until

    def run(self, action: Callable[[], float]) -> float:
        """Run something and remember how long it took."""
        started = self._clock()
        try:
            return action()
        finally:
            self._longest = max(self._longest, self._clock() - started)


@dataclass(frozen=True, slots=True)
class Duel(Generic[T]):
    """A challenger against the champion of the moment.

    Attributes:
        challenger: Who challenged.
        ratios: How many times faster it was, comparison by comparison; empty without time for one.
        won: True when it is the champion now.
        failed: True when it could not run.
    """

    challenger: T
    ratios: tuple[float, ...]
    won: bool
    failed: bool = False


class Referee(Generic[T]):
    """Lets ways to do the same thing run in turn, and keeps the champion.

    Champion and challenger alternate, and each run of the challenger is compared with the champion's runs
    right before and right after it: what else the machine does hits both alike. The champion stays unless
    it is beaten every time and clearly, so whoever starts as champion is never lost to chance.

    Args:
        champion: The way to start with.
        measure: Runs a way and returns its cost; less is better.
        budget: Time for all of it.
        failures: Errors of ``measure`` that only mean that a challenger is out.
    """

    def __init__(
        self,
        champion: T,
        measure: Callable[[T], float],
        budget: Budget,
        failures: tuple[type[Exception], ...] = (),
    ) -> None:
        self._measure = measure
        self._budget = budget
        self._failures = failures
        self.champion = champion
        self.cost = budget.run(lambda: measure(champion))
        self.duels: list[Duel[T]] = []

    def challenge(self, challenger: T) -> Duel[T]:
        """Let one more way try; it may become the champion."""
        duel = self._fight(challenger)
        self.duels.append(duel)
        if duel.won:
            self.champion = challenger
        return duel

    def _fight(self, challenger: T) -> Duel[T]:
        ratios: list[float] = []
        theirs: list[float] = []
        while len(ratios) < ROUNDS and self._budget.allows():
            try:
                theirs.append(self._budget.run(lambda: self._measure(challenger)))
            except self._failures:
                return Duel(challenger, (), won=False, failed=True)
            before, after = self.cost, self._budget.run(lambda: self._measure(self.champion))
            self.cost = after
            ratios.append((before + after) / 2 / theirs[-1])
            if ratios[-1] < (HOPELESS if len(ratios) == 1 else 1.0):
                break
        won = len(ratios) == ROUNDS and min(ratios) > 1.0 and statistics.median(ratios) >= CLEAR
        if won:
            self.cost = theirs[-1]
        return Duel(challenger, tuple(ratios), won=won)
