"""Reading prompts over an engine that remembers how each token came into its cache: nothing may differ."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pipeline.errors import GeneratorError
from pipeline.generators.prompt_reader import PromptReader

Entry = tuple[int, tuple[int, ...]]


class Engine:
    """What it holds of a token: the token, and all tokens of the step that it was read in."""

    n_batch = 4

    def __init__(
        self, *, can_park: bool = True, interrupts: Sequence[bool] = (), forgets: bool = True
    ) -> None:
        self.can_park = can_park
        self.cache: list[Entry] = []
        self.read = 0
        self.fails = False
        self._interrupts = iter(interrupts)
        self._forgets = forgets

    def keep(self, tokens: int) -> int:
        if not self._forgets and tokens < len(self.cache):
            self.cache = []
            return 0
        self.cache = self.cache[:tokens]
        return tokens

    def evaluate(self, tokens: Sequence[int], *, every: bool = False) -> bool:
        if self.fails:
            raise GeneratorError(reason="out of memory")
        entries = [(token, tuple(tokens)) for token in tokens]
        if next(self._interrupts, False):
            self.cache += entries[: len(entries) // 2]
            return False
        self.cache += entries
        self.read += len(tokens)
        return True

    def save(self, start: int, end: int) -> NDArray[np.uint8]:
        return np.frombuffer(pickle.dumps(self.cache[start:end]), np.uint8)

    def restore(self, state: NDArray[np.uint8]) -> bool:
        self.cache += pickle.loads(state.tobytes())
        return True

    def resume(self) -> None:
        pass


def _never() -> bool:
    return False


def _fresh(prompt: list[int], marks: Sequence[int]) -> list[Entry]:
    engine = Engine()
    PromptReader(engine, 0).read(prompt, marks, _never)
    return engine.cache


# Instructions (always the same), one of three sources of different lengths, a question.
PARTS = st.tuples(st.integers(0, 2), st.lists(st.integers(50, 53), min_size=1, max_size=9))
SOURCES = [[20, 21, 22], [30, 31, 32, 33, 34, 35], [20, 21, 22, 23, 24, 25, 26, 27, 28]]


def _prompt(source: int, question: list[int]) -> tuple[list[int], tuple[int, int]]:
    fixed = [1, 2, 3, 4, 5]
    return [*fixed, *SOURCES[source], *question], (len(fixed), len(fixed) + len(SOURCES[source]))


@given(
    st.lists(PARTS, min_size=1, max_size=12),
    st.sampled_from([0, 150, 10**6]),
    st.lists(st.booleans(), max_size=20),
    st.booleans(),
)
def test_the_cache_is_that_of_a_first_reading_whatever_was_asked_before(
    parts, memory, interrupts, forgets
) -> None:
    # An engine that cannot forget a part is never interrupted.
    engine = Engine(can_park=forgets, interrupts=interrupts if forgets else (), forgets=forgets)
    reader = PromptReader(engine, memory)
    for source, question in parts:
        prompt, marks = _prompt(source, question)
        before = engine.read
        reused = reader.read(prompt, marks, _never)
        assert engine.cache == _fresh(prompt, marks)
        assert reader.tokens == prompt
        assert reused + engine.read - before == len(prompt)
        reader.append([99], _never)  # an answer


def test_a_source_is_taken_from_memory_after_others_came_in_between() -> None:
    engine = Engine()
    reader = PromptReader(engine, 10**6)
    for source in (0, 1, 2):
        reader.read(*_prompt(source, [50, 51]), _never)
    before = engine.read
    assert reader.read(*_prompt(1, [52]), _never) == 5 + 6
    assert engine.read - before == 1


def test_one_that_cannot_be_parked_keeps_nothing() -> None:
    engine = Engine(can_park=False)
    reader = PromptReader(engine, 10**6)
    reader.read(*_prompt(0, [50]), _never)
    reader.read(*_prompt(1, [50]), _never)
    assert reader.read(*_prompt(0, [50]), _never) == 5


def test_a_part_that_does_not_fit_back_is_read_and_forgotten() -> None:
    engine = Engine()
    reader = PromptReader(engine, 10**6)
    reader.read(*_prompt(0, [50]), _never)
    reader.read(*_prompt(1, [50]), _never)
    engine.restore = lambda state: False
    prompt, marks = _prompt(0, [50])
    assert reader.read(prompt, marks, _never) == 5
    assert engine.cache == _fresh(prompt, marks)


def test_who_is_cancelled_leaves_whole_steps_behind() -> None:
    engine = Engine()
    reader = PromptReader(engine, 10**6)
    polls = iter(range(100))
    prompt, marks = _prompt(1, [50, 51, 52, 53])
    reader.read(prompt, marks, lambda: next(polls) >= 3)
    assert len(reader.tokens) == 9
    assert reader.read(prompt, marks, _never) == 9
    assert engine.cache == _fresh(prompt, marks)


def test_an_engine_that_fails_is_left_with_an_empty_cache() -> None:
    engine = Engine()
    reader = PromptReader(engine, 10**6)
    prompt, marks = _prompt(1, [50])
    reader.read(prompt, marks, _never)
    engine.fails = True
    with pytest.raises(GeneratorError):
        reader.read(*_prompt(0, [50]), _never)
    assert (reader.tokens, engine.cache) == ([], [])
    engine.fails = False
    reader.read(prompt, marks, _never)
    assert engine.cache == _fresh(prompt, marks)
