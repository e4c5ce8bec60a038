"""How likely each of several given answers is, read only as far as they differ.

The answers form a tree of tokens. What decides between them are the tokens at its branchings; once an answer
cannot be another one any more, the rest of it is as good as certain, because the prompt has named it. So most
answers cost nothing beside the prompt itself, whose last scores hold the first token of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.generators.llama_engine import LlamaEngine
from pipeline.generators.prompt_reader import PromptReader, common_prefix

__all__ = ["Choice", "log_softmax"]


class Choice:
    """Scores answers behind a prompt that has just been read.

    Args:
        engine: Holds the prompt and nothing behind it.
        reader: Reads into it.
        answers: Tokens of each answer, its end included.
        cancelled: Polled between readings.
    """

    def __init__(
        self,
        engine: LlamaEngine,
        reader: PromptReader,
        answers: Sequence[Sequence[int]],
        cancelled: Callable[[], bool],
    ) -> None:
        self._engine = engine
        self._reader = reader
        self._prompt = list(reader.tokens)
        self._answers = answers
        self._cancelled = cancelled
        self._scores = [0.0] * len(answers)

    def scores(self) -> tuple[float, ...]:
        """Natural logarithms, at most 0, in the order of the answers; none when it was cancelled."""
        here = log_softmax(self._engine.logits())
        done = self._decide(0, range(len(self._answers)), here)
        return tuple(self._scores) if done else ()

    def _decide(self, depth: int, members: Sequence[int], here: NDArray[np.float64]) -> bool:
        """Tell apart answers that are the same up to a depth; ``here`` are the logarithms behind that."""
        if len(members) < 2 or any(len(self._answers[member]) == depth for member in members):
            return not self._cancelled()
        groups: dict[int, list[int]] = {}
        for member in members:
            groups.setdefault(self._answers[member][depth], []).append(member)
        for token, group in groups.items():
            self._add(group, here[token])
            if len(group) > 1 and not self._descend(depth, group):
                return False
        return not self._cancelled()

    def _descend(self, depth: int, group: Sequence[int]) -> bool:
        """Read what a group has in common, then tell its members apart."""
        first, *others = (self._answers[member] for member in group)
        end = min(common_prefix(first, other) for other in others)
        self._reader.forget_after(len(self._prompt) + depth)
        if len(self._reader.tokens) < len(self._prompt) + depth:  # what forgets all or nothing
            again = [*self._prompt, *first[:depth]]
            self._reader.read(again, (len(self._prompt),), self._cancelled)
        most = self._engine.n_batch
        for start in range(depth, end, most):
            tokens = list(first[start : min(start + most, end)])
            if not self._reader.append(tokens, self._cancelled, every=True):
                return False
            for place, token in enumerate(first[start + 1 : start + len(tokens)]):
                self._add(group, log_softmax(self._engine.logits(place))[token])
            if start + len(tokens) < end:
                self._add(group, log_softmax(self._engine.logits(-1))[first[start + len(tokens)]])
        return self._decide(end, group, log_softmax(self._engine.logits(-1)))

    def _add(self, group: Sequence[int], value: float) -> None:
        for member in group:
            self._scores[member] += float(value)


def log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Logarithms of the probabilities that the scores of a vocabulary stand for."""
    values = logits.astype(np.float64)
    values -= values.max()
    return np.asarray(values - np.log(np.exp(values).sum()))
