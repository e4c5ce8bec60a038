"""What is kept of prompts: by exact tokens, within its memory, the oldest forgotten first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.generators.hot_parts import HotParts
from pipeline.generators.prompt_reader import common_prefix, plan_steps


def _state(size: int) -> np.ndarray:
    return np.arange(size, dtype=np.uint8)


def test_only_the_very_same_tokens_behind_the_same_beginning_are_found() -> None:
    parts = HotParts(100)
    parts.put([1, 2, 3, 4], 2, _state(10))
    assert parts.find([1, 2, 3, 4], 2) is not None
    assert parts.find([1, 2, 3], 2) is None
    assert parts.find([9, 2, 3, 4], 2) is None
    assert parts.find([1, 2, 3, 4], 1) is None
    assert [1, 2, 3, 4] in parts


def test_the_least_recently_used_makes_room() -> None:
    parts = HotParts(30)
    for first in (1, 2, 3):
        parts.put([first], 0, _state(10))
    parts.find([1], 0)
    parts.put([4], 0, _state(10))
    assert ([1] in parts, [2] in parts, [3] in parts, [4] in parts) == (True, False, True, True)


def test_a_part_that_is_put_again_counts_once_and_one_too_large_is_not_kept() -> None:
    parts = HotParts(30)
    parts.put([1], 0, _state(10))
    parts.put([1], 0, _state(20))
    parts.put([2], 0, _state(31))
    assert (len(parts), [1] in parts) == (1, True)
    parts.put([3], 0, _state(10))
    assert ([1] in parts, [3] in parts) == (True, True)
    parts.forget([1])
    parts.forget([1])
    parts.put([4], 0, _state(20))
    assert ([3] in parts, [4] in parts, len(parts)) == (True, True, 2)


def test_without_memory_nothing_is_kept() -> None:
    parts = HotParts(0)
    parts.put([1], 0, _state(1))
    assert not parts.takes(1)
    assert len(parts) == 0


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 40)), max_size=30))
def test_memory_is_never_exceeded(puts: list[tuple[int, int]]) -> None:
    parts = HotParts(50)
    for key, size in puts:
        parts.put([key], 0, _state(size))
        assert [key] in parts
        held = (parts.find([one], 0) for one in range(6))
        assert sum(state.nbytes for state in held if state is not None) <= 50


@pytest.mark.parametrize(
    ("length", "marks", "steps"),
    [
        (10, (), [(0, 4), (4, 8), (8, 10)]),
        (10, (6,), [(0, 4), (4, 6), (6, 10)]),
        (10, (6, 6, 10, 0, 12), [(0, 4), (4, 6), (6, 10)]),
        (3, (1, 2), [(0, 1), (1, 2), (2, 3)]),
        (0, (), []),
    ],
)
def test_steps_end_at_marks(length: int, marks: tuple[int, ...], steps: list[tuple[int, int]]) -> None:
    assert plan_steps(length, marks, 4) == steps


@given(st.integers(1, 200), st.lists(st.integers(0, 220), max_size=4), st.integers(1, 64))
def test_steps_cover_the_prompt_once_and_in_order(length: int, marks: list[int], most: int) -> None:
    steps = plan_steps(length, marks, most)
    assert [place for start, end in steps for place in range(start, end)] == list(range(length))
    assert all(end - start <= most for start, end in steps)
    assert all(any(end == mark for _, end in steps) for mark in marks if 0 < mark < length)


def test_common_beginning() -> None:
    assert common_prefix([1, 2, 3], [1, 2, 4]) == 2
    assert common_prefix([1, 2], [1, 2, 4]) == 2
    assert common_prefix([], [1]) == 0
