"""The language model as a route uses it: few calls, each with a deadline, all of them counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pipeline.generators.generation import Generation
from pipeline.generators.worker import GeneratorWorker
from pipeline.ports import ChatMessage, Sampling
from pipeline.types import Step, Waiting

__all__ = ["MOST_CALLS", "RouteModel", "StepLog"]

MOST_CALLS = 3
"""Of the language model, for one question, all in all."""

_AROUND_MESSAGE = 5
"""Tokens that a chat template puts around a message."""


@dataclass(slots=True)
class StepLog:
    """The steps of one question, each timed from the end of the one before."""

    steps: list[Step] = field(default_factory=list)
    _since: float = field(default_factory=time.monotonic)

    def add(self, name: str, detail: str = "", tokens: tuple[int, int] = (0, 0)) -> None:
        """A step has come to its end."""
        now = time.monotonic()
        self.steps.append(Step(name, round(now - self._since, 4), *tokens, detail=detail))
        self._since = now


@dataclass(slots=True)
class RouteModel:
    """Calls the generator's worker for one question.

    Attributes:
        worker: Owns the model.
        client: Whose question it is, for a fair line.
        until: The moment of ``time.monotonic`` by which the question must be answered.
        step_s: Seconds that one call may take at most.
        cancelled: Polled at every token.
        calls: Calls made so far.
        tokens: Tokens of the last call, in and out.
    """

    worker: GeneratorWorker
    client: str
    until: float
    step_s: float
    cancelled: Callable[[], bool]
    calls: int = 0
    tokens: tuple[int, int] = (0, 0)

    def write(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Iterator[Waiting | str]:
        """The places in the line, then the text; empty where its time was over or no call is left.

        Raises:
            CancelledError: ``cancelled()`` became true.
            OtvetError: The generator failed.
        """
        if self.calls >= MOST_CALLS:
            yield ""
            return
        self.calls += 1
        deadline = self._deadline()
        generation = self.worker.submit(
            messages, sampling, client=self.client, cancelled=self.cancelled, deadline=deadline
        )
        yield from _places(generation)
        text = generation.text()
        self.tokens = (self._count(messages), self.worker.count_tokens(text))
        yield text if generation.end == "complete" else ""

    def choose(
        self, messages: Sequence[ChatMessage], answers: Sequence[str]
    ) -> Iterator[Waiting | tuple[float, ...]]:
        """The places in the line, then how likely each answer is; empty where its time was over."""
        if self.calls >= MOST_CALLS:
            yield ()
            return
        self.calls += 1
        generation = self.worker.score(
            messages, answers, client=self.client, cancelled=self.cancelled, deadline=self._deadline()
        )
        yield from _places(generation)
        scores = generation.scores()
        self.tokens = (self._count(messages), 1)
        yield scores

    def wait_ready(self) -> str:
        """The model's name, once it is loaded.

        Raises:
            NotReadyError: It is still loading when the question must be answered.
            OtvetError: It could not be loaded.
        """
        left = max(0.0, self.until - time.monotonic())
        return self.worker.wait_ready(left, self.cancelled).id

    def is_ready(self) -> bool:
        """Whether it can be asked at once and knows how likely answers are."""
        return self.worker.state == "ready" and self.worker.scores

    def _deadline(self) -> float:
        return min(self.until, time.monotonic() + self.step_s)

    def _count(self, messages: Sequence[ChatMessage]) -> int:
        return sum(self.worker.count_tokens(message.content) + _AROUND_MESSAGE for message in messages)


def _places(generation: Generation) -> Iterator[Waiting]:
    for place in generation.places():
        yield Waiting(place, generation.remaining_s())
