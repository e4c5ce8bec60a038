"""What a context of llama.cpp has read: kept from prompt to prompt, saved and restored by parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipeline.errors import GeneratorError
from pipeline.generators.hot_parts import HotParts
from pipeline.generators.llama_engine import LlamaEngine

__all__ = ["PromptReader", "common_prefix", "plan_steps"]

Step = tuple[int, int]
"""Tokens of a prompt that are read together: from the first up to the second place."""


class PromptReader:
    """Reads prompts into the KV cache of an engine, and as little of them as needed.

    Prompts are read in steps that depend on nothing but the prompt, and only whole steps are used again. The
    last digits of what a model computes depend on which tokens it read together; so the answer is the same,
    token by token, whatever was asked before.

    Args:
        engine: Read into by nobody else.
        kv_bytes: Memory for the lasting parts of earlier prompts.

    Attributes:
        tokens: What is in the KV cache.
    """

    def __init__(self, engine: LlamaEngine, kv_bytes: int) -> None:
        self._engine = engine
        self._hot = HotParts(kv_bytes if engine.can_park else 0)
        # The steps in which the tokens of the last prompt came into the cache.
        self._steps: list[Step] = []
        self.tokens: list[int] = []

    def holds(self, tokens: list[int]) -> bool:
        """True while the KV cache begins with these tokens."""
        return common_prefix(self.tokens, tokens) == len(tokens)

    def read(self, prompt: list[int], marks: Sequence[int], cancelled: Callable[[], bool]) -> int:
        """Bring the KV cache to the prompt; returns how many tokens needed not be read."""
        plan = plan_steps(len(prompt), marks, self._engine.n_batch)
        self._keep_steps(prompt, plan)
        reused = len(self.tokens)
        while len(self._steps) < len(plan):
            start, end = plan[len(self._steps)]
            # Where one lasting part ends another may begin that is known from before.
            hot = self._restored(prompt, plan, marks) if start in marks else 0
            if hot:
                reused += hot
            elif self.append(prompt[start:end], cancelled):
                self._steps.append((start, end))
                self._save(prompt, marks, end)
            else:
                break
        return reused

    def _keep_steps(self, prompt: list[int], plan: Sequence[Step]) -> None:
        """Forget all but the whole steps that the prompt has in common with what is in the KV cache.

        The last step is always read again: its scores are what the answer starts from.
        """
        known = common_prefix(self.tokens, prompt)
        kept = 0
        for step, old in zip(plan[:-1], self._steps, strict=False):
            if step != old or step[1] > known:
                break
            kept = step[1]
        self.forget_after(kept)

    def forget_after(self, count: int) -> None:
        """Keep the first tokens only; none at all in an architecture that cannot forget a part."""
        kept = self._engine.keep(count)
        self.tokens = self.tokens[:kept]
        self._steps = [step for step in self._steps if step[1] <= kept]

    def _restored(self, prompt: list[int], plan: Sequence[Step], marks: Sequence[int]) -> int:
        """Take the next lasting part from memory, if it is there; returns its tokens."""
        start = len(self.tokens)
        end = min((mark for mark in marks if mark > start), default=start)
        state = self._hot.find(prompt[:end], start) if start < end < len(prompt) else None
        if state is None:
            return 0
        if not self._engine.restore(state):
            self._hot.forget(prompt[:end])
            self.forget_after(start)
            return 0
        self.tokens = prompt[:end]
        self._steps = [step for step in plan if step[1] <= end]
        return end - start

    def _save(self, prompt: list[int], marks: Sequence[int], end: int) -> None:
        """Keep a lasting part that was just read, but for the first one, which never leaves the cache."""
        start = max((mark for mark in marks if mark < end), default=0)
        if start and end in marks and prompt[:end] not in self._hot and self._hot.takes(1):
            self._hot.put(prompt[:end], start, self._engine.save(start, end))

    def append(self, tokens: list[int], cancelled: Callable[[], bool], *, every: bool = False) -> bool:
        """Read tokens behind those in the KV cache; False when that was cancelled."""
        while not cancelled():
            try:
                done = self._engine.evaluate(tokens, every=every)
            except GeneratorError:
                self.forget_after(0)
                raise
            if done:
                self.tokens += tokens
                return True
            # Interrupted: by a client who left, or too late, by one whose text was finished already.
            self._engine.resume()
            self.forget_after(len(self.tokens))
        return False


def plan_steps(length: int, marks: Sequence[int], most: int) -> list[Step]:
    """The steps in which a prompt is read: at most ``most`` tokens each, none across a mark."""
    ends = [mark for mark in sorted(set(marks)) if 0 < mark < length]
    stretches = zip([0, *ends], [*ends, length], strict=True)
    return [(start, min(start + most, end)) for first, end in stretches for start in range(first, end, most)]


def common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens both begin with."""
    pairs = zip(first, second, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
