"""A generator over a GGUF model, run by llama.cpp on the CPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pipeline.errors import GeneratorError, PromptTooLongError
from pipeline.generators.chat_template import ChatTemplate, find_template
from pipeline.generators.llama_engine import EngineOptions, LlamaEngine
from pipeline.generators.stats import GenerationStats
from pipeline.generators.text_stream import TextStream
from pipeline.messages import Phrase
from pipeline.ports import ChatMessage, GeneratorSpec, Sampling

__all__ = ["EngineOptions", "LlamaCppGenerator"]

LEAST_ANSWER = 16
"""Tokens an answer needs at least; a prompt that leaves fewer is refused."""


class LlamaCppGenerator:
    """Port ``Generator``: one model, one conversation at a time.

    The tokens of the last prompt stay in the KV cache, and the next prompt is read only from where it
    differs: a fixed system text, or the same sources asked about again, cost nothing the second time.

    Args:
        path: A GGUF file.
        context_tokens: Prompt and answer together.
        threads: Threads of llama.cpp, explicit because its own default is half the cores.
        options: Engine options that fit this CPU.
        model_id: Name shown to people; the file's name by default.

    Raises:
        ModelMissingError: There is no such file.
        ModelDamagedError: The file cannot be loaded.
        GeneratorError: No memory for the context, or a chat format nobody here knows.
    """

    def __init__(
        self,
        path: Path,
        *,
        context_tokens: int = 4096,
        threads: int = 2,
        options: EngineOptions | None = None,
        model_id: str = "",
    ) -> None:
        self._engine = LlamaEngine(path, context_tokens, threads, options or EngineOptions())
        self._template = _template_of(self._engine)
        self._spec = GeneratorSpec(model_id or path.stem, self._engine.context_tokens)
        self._stops = frozenset(
            ids[0]
            for ids in (self._engine.tokenize(text, special=True) for text in self._template.stops)
            if len(ids) == 1
        )
        self._cached: list[int] = []
        self._stats = GenerationStats()

    @property
    def spec(self) -> GeneratorSpec:
        """Who this is."""
        return self._spec

    @property
    def stats(self) -> GenerationStats:
        """Measurements of the last generation."""
        return self._stats

    def close(self) -> None:
        """Free the model; nothing else may be called afterwards."""
        self._engine.close()

    def count_tokens(self, text: str) -> int:
        """Tokens of a plain text, special tokens not parsed. Safe to call from any thread."""
        return len(self._engine.tokenize(text, special=False))

    def prompt_tokens(self, messages: Sequence[ChatMessage], *, answer: bool = True) -> list[int]:
        """Token ids of a conversation; what stands in a message never becomes a control token."""
        tokens = self._engine.opening_tokens()
        for segment in self._template.render(messages, answer=answer):
            tokens += self._engine.tokenize(segment.text, special=segment.trusted)
        return tokens

    def warm(self, messages: Sequence[ChatMessage], cancelled: Callable[[], bool] = lambda: False) -> None:
        """Read a prompt without answering, so that what the next one shares with it is free.

        Does nothing while all of it is in the KV cache still, whatever comes behind it there.

        Raises:
            PromptTooLongError: It does not fit.
            GeneratorError: The engine failed.
        """
        tokens = self.prompt_tokens(messages, answer=False)
        self._check_room(len(tokens), LEAST_ANSWER)
        if _common_prefix(self._cached, tokens) < len(tokens):
            self._prefill(tokens, cancelled)

    def generate(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancelled: Callable[[], bool]
    ) -> Iterator[str]:
        """Yield whole characters as they come; see the port.

        Raises:
            PromptTooLongError: Fewer than 16 tokens (or ``sampling.max_tokens``) are left to answer.
            GeneratorError: The engine failed.
        """
        prompt = self.prompt_tokens(messages)
        room = self._check_room(len(prompt), sampling.max_tokens)
        started = time.perf_counter()
        reused = self._prefill(prompt, cancelled)
        ready = time.perf_counter()
        stream = TextStream(sampling.stop)
        count = 0
        try:
            if len(self._cached) < len(prompt):
                return  # cancelled while reading
            for token in self._tokens(sampling, room, cancelled):
                count += 1
                if text := stream.push(self._engine.piece(token)):
                    yield text
                if stream.stopped:
                    return
            if text := stream.close():
                yield text
        finally:
            self._stats = GenerationStats(
                prompt_tokens=len(prompt),
                reused_tokens=reused,
                prefill_s=ready - started,
                answer_tokens=count,
                decode_s=time.perf_counter() - ready,
            )

    def _check_room(self, prompt: int, wanted: int) -> int:
        limit = self._spec.context_tokens - min(LEAST_ANSWER, wanted)
        if prompt > limit:
            raise PromptTooLongError(tokens=prompt, limit=limit)
        return min(wanted, self._spec.context_tokens - prompt)

    def _prefill(self, prompt: list[int], cancelled: Callable[[], bool]) -> int:
        """Bring the KV cache to the prompt; returns how many tokens were there already."""
        # The last token is always read again: its scores are what the answer starts from.
        shared = min(_common_prefix(self._cached, prompt), len(prompt) - 1)
        reused = position = self._engine.keep(shared)
        self._cached = prompt[:position]
        while position < len(prompt) and not cancelled():
            batch = prompt[position : position + self._engine.n_batch]
            self._evaluate(batch)
            position += len(batch)
        return reused

    def _tokens(self, sampling: Sampling, room: int, cancelled: Callable[[], bool]) -> Iterator[int]:
        unread: list[int] = []
        with self._engine.sampler(sampling.temperature, sampling.seed) as sampler:
            for _ in range(room):
                if unread:
                    self._evaluate(unread)
                if cancelled():
                    return
                token = self._engine.sample(sampler)
                if token in self._stops or self._engine.ends_text(token):
                    return
                yield token
                unread = [token]

    def _evaluate(self, tokens: list[int]) -> None:
        try:
            self._engine.evaluate(tokens)
        except GeneratorError:
            self._cached = self._cached[: self._engine.keep(0)]
            raise
        self._cached += tokens


def _template_of(engine: LlamaEngine) -> ChatTemplate:
    template = find_template(engine.metadata("tokenizer.chat_template"))
    if template is None:
        engine.close()
        raise GeneratorError(reason=Phrase("generator_no_template"))
    return template


def _common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    pairs = zip(first, second, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
