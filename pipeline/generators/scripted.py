"""A generator that says what it was told to say: for tests, demonstrations and dry runs."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from pipeline.errors import GeneratorError, PromptTooLongError
from pipeline.generators.text_stream import TextStream
from pipeline.ports import ChatMessage, GeneratorSpec, Sampling

__all__ = ["Script", "ScriptedGenerator"]

Script = Callable[[Sequence[ChatMessage]], str]
"""Makes the reply to a conversation."""

_PIECE = re.compile(r"\s*\S+|\s+$")


class ScriptedGenerator:
    """Port ``Generator`` without a model. A token is a word with the space before it.

    Args:
        replies: What to say: one text a call, the last one again and again, or a function.
        delay_s: Pause before every token.
        gate: No token leaves before this event is set; cancelling still works.
        failures: How many of the first calls fail after their first token.
        context_tokens: As ``GeneratorSpec.context_tokens``.

    Attributes:
        calls: Every conversation it was given, in order.
    """

    def __init__(
        self,
        replies: Script | Sequence[str],
        *,
        delay_s: float = 0.0,
        gate: threading.Event | None = None,
        failures: int = 0,
        context_tokens: int = 4096,
    ) -> None:
        self._replies = replies
        self._delay_s = delay_s
        self._gate = gate
        self._failures = failures
        self._spec = GeneratorSpec("scripted", context_tokens)
        self.calls: list[tuple[ChatMessage, ...]] = []

    @property
    def spec(self) -> GeneratorSpec:
        """Who this is."""
        return self._spec

    def count_tokens(self, text: str) -> int:
        """Words of the text."""
        return len(text.split())

    def generate(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancelled: Callable[[], bool]
    ) -> Iterator[str]:
        """Yield the scripted reply word by word; see the port."""
        prompt = sum(self.count_tokens(message.content) for message in messages)
        room = self._spec.context_tokens - prompt
        if room < 1:
            raise PromptTooLongError(tokens=prompt, limit=self._spec.context_tokens - 1)
        reply = self._reply(messages)
        self.calls.append(tuple(messages))
        stream = TextStream(sampling.stop)
        for piece in _PIECE.findall(reply)[: min(room, sampling.max_tokens)]:
            if not self._may_speak(cancelled):
                return
            if text := stream.push(piece.encode()):
                yield text
            if stream.stopped:
                return
            if len(self.calls) <= self._failures:
                raise GeneratorError(reason="scripted failure")
        if text := stream.close():
            yield text

    def score(
        self, messages: Sequence[ChatMessage], continuations: Sequence[str], cancelled: Callable[[], bool]
    ) -> tuple[float, ...]:
        """The scripted reply has nine tenths of the probability, every other continuation a thousandth."""
        prompt = sum(self.count_tokens(message.content) for message in messages)
        if prompt + max(map(self.count_tokens, continuations), default=0) > self._spec.context_tokens:
            raise PromptTooLongError(tokens=prompt, limit=self._spec.context_tokens - 1)
        reply = self._reply(messages).strip()
        self.calls.append(tuple(messages))
        if not self._may_speak(cancelled):
            return ()
        if len(self.calls) <= self._failures:
            raise GeneratorError(reason="scripted failure")
        return tuple(math.log(0.9 if text.strip() == reply else 0.001) for text in continuations)

    def _reply(self, messages: Sequence[ChatMessage]) -> str:
        if callable(self._replies):
            return self._replies(messages)
        return self._replies[min(len(self.calls), len(self._replies) - 1)]

    def _may_speak(self, cancelled: Callable[[], bool]) -> bool:
        """Wait for delay and gate; False once cancelled."""
        if self._delay_s:
            time.sleep(self._delay_s)
        while self._gate is not None and not self._gate.wait(0.01):
            if cancelled():
                return False
        return not cancelled()
