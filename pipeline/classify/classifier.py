"""A batch of texts, one after another through the generator's line, so that other callers get their turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from pipeline.classify.decision import Chances, chances, chosen
from pipeline.classify.prompt import TEXT_TOKENS, Task, shortened
from pipeline.errors import BusyError, CancelledError, GeneratorError, PromptTooLongError
from pipeline.generators.worker import GeneratorWorker
from pipeline.ports import GeneratorSpec
from pipeline.types import Classified, ClassifyRequest

__all__ = ["Classifier", "classify"]

T = TypeVar("T")

RETRY_S = 0.5
"""How often a text whose turn was refused, because the line is full, tries again."""

LOADING_S = 600.0
"""Seconds that a batch waits for a generator that still loads."""

LEAST_TEXT = 32
"""Tokens that must be left for a text besides labels and prompt."""

MESSAGE_TOKENS = 8
"""Tokens that a chat template puts around a message, generously."""


def classify(
    worker: GeneratorWorker, request: ClassifyRequest, cancelled: Callable[[], bool]
) -> Iterator[Classified]:
    """The texts of a request in their order, each as soon as its label is known.

    Raises:
        CancelledError: ``cancelled()`` became true.
        NotReadyError: The generator was still loading after ten minutes.
        PromptTooLongError: Labels and prompt leave no room for a text.
        OtvetError: The generator failed for good.
    """
    spec = _patiently(lambda: worker.wait_ready(LOADING_S, cancelled), cancelled)
    classifier = Classifier(worker, spec, request, Task(request), cancelled)
    for n, text in enumerate(request.texts, 1):
        yield classifier.classified(n, text)


@dataclass(slots=True)
class Classifier:
    """Classifies the texts of one request; equal texts are read once."""

    worker: GeneratorWorker
    spec: GeneratorSpec
    request: ClassifyRequest
    task: Task
    cancelled: Callable[[], bool]
    _known: dict[str, Chances | GeneratorError] = field(default_factory=dict)

    def classified(self, n: int, text: str) -> Classified:
        """The label of one text; an engine that fails at it costs this text only.

        Raises:
            PromptTooLongError: Labels and prompt leave no room for a text.
            OtvetError: The generator failed for good, or the batch was given up.
        """
        whole = text.strip()
        read = shortened(whole, self.worker.count_tokens, self._room())
        if read not in self._known:
            self._known[read] = self._found(read) if read else Chances(self._nothing(), 1.0)
        found = self._known[read]
        if isinstance(found, GeneratorError):
            return Classified(n, "failed", None, self._nothing(), 0.0, self.spec.id, error=found)
        label = chosen(found, self.request)
        return Classified(
            n,
            "none" if label is None else "label",
            None if label is None else self.request.labels[label],
            found.labels,
            found.none,
            self.spec.id,
            cut=len(read) < len(whole),
        )

    def _nothing(self) -> tuple[float, ...]:
        return (0.0,) * len(self.request.labels)

    def _found(self, text: str) -> Chances | GeneratorError:
        task, client = self.task, self.request.client
        messages = task.conversation(text)
        generation = _patiently(
            lambda: self.worker.score(messages, task.answers, client=client, cancelled=self.cancelled),
            self.cancelled,
        )
        try:
            scores = generation.scores()
        except GeneratorError as error:
            return error
        count = len(self.request.labels)
        return chances(scores[:count], scores[count] if self.task.none else None)

    def _room(self) -> int:
        """Tokens that a text may have.

        Raises:
            PromptTooLongError: Fewer than ``LEAST_TEXT``.
        """
        count = self.worker.count_tokens
        fixed = self.task.conversation("")
        taken = sum(count(message.content) + MESSAGE_TOKENS for message in fixed)
        taken += max(count(answer) for answer in self.task.answers) + MESSAGE_TOKENS
        room = self.spec.context_tokens - taken
        if room < LEAST_TEXT:
            raise PromptTooLongError(tokens=taken + LEAST_TEXT, limit=self.spec.context_tokens)
        return min(TEXT_TOKENS, room)


def _patiently(attempt: Callable[[], T], cancelled: Callable[[], bool]) -> T:
    """What an attempt gives, tried again while the line is full.

    Raises:
        CancelledError: ``cancelled()`` became true.
    """
    while not cancelled():
        try:
            return attempt()
        except BusyError:
            time.sleep(RETRY_S)
    raise CancelledError
