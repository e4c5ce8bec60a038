"""Choosing the faster way: noise never chooses, and time is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from pipeline.errors import GeneratorError
from pipeline.evaluation.duel import Budget, Referee


class Clock:
    """Time that only passes when something is measured."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _measuring(clock: Clock, costs: dict[str, Sequence[float]]) -> Callable[[str], float]:
    runs = {way: iter(values) for way, values in costs.items()}

    def measure(way: str) -> float:
        cost = next(runs[way])
        clock.now += cost
        return cost

    return measure


def _referee(costs: dict[str, Sequence[float]], seconds: float = 1000.0) -> Referee[str]:
    clock = Clock()
    return Referee("default", _measuring(clock, costs), Budget(seconds, clock), (GeneratorError,))


def test_who_is_clearly_faster_every_time_becomes_champion() -> None:
    referee = _referee({"default": [2, 2, 2, 2], "new": [1, 1, 1]})
    duel = referee.challenge("new")
    assert duel.won
    assert duel.ratios == (2.0, 2.0, 2.0)
    assert referee.champion == "new"


def test_once_slower_is_enough_to_lose() -> None:
    referee = _referee({"default": [2, 2, 2, 2], "new": [1, 1, 2.1]})
    assert not referee.challenge("new").won
    assert referee.champion == "default"


def test_a_little_faster_is_not_enough() -> None:
    referee = _referee({"default": [1.04] * 4, "new": [1, 1, 1]})
    assert not referee.challenge("new").won


def test_the_hopeless_cost_one_run() -> None:
    referee = _referee({"default": [2, 2], "new": [2]})
    assert referee.challenge("new").ratios == (1.0,)


def test_a_machine_that_gets_slower_meanwhile_hits_both_alike() -> None:
    """Each run is compared with the champion's runs before and after it."""
    referee = _referee({"default": [1, 3, 5, 7], "new": [2, 4, 6]})
    assert referee.challenge("new").ratios == (1.0,)


def test_what_cannot_run_is_out_and_the_champion_stays() -> None:
    clock = Clock()

    def measure(way: str) -> float:
        if way == "broken":
            raise GeneratorError(reason="no memory")
        return 1.0

    referee = Referee("default", measure, Budget(10, clock), (GeneratorError,))
    assert referee.challenge("broken").failed
    assert referee.champion == "default"


def test_a_champion_that_cannot_run_is_an_error() -> None:
    def measure(_: str) -> float:
        raise GeneratorError(reason="no memory")

    with pytest.raises(GeneratorError):
        Referee("default", measure, Budget(10, Clock()), (GeneratorError,))


def test_nothing_is_begun_that_does_not_fit_and_nothing_half_tried_wins() -> None:
    """A run takes 4 of the 20 seconds: the champion, one of the challenger, the champion, one more each."""
    referee = _referee({"default": [4] * 9, "new": [2] * 9}, seconds=15)
    duel = referee.challenge("new")
    assert len(duel.ratios) == 2
    assert not duel.won
    later = referee.challenge("later")
    assert (later.ratios, later.failed) == ((), False)
