"""A generator over a GGUF model, run by llama.cpp on the CPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pipeline.errors import GeneratorError, PromptTooLongError
from pipeline.generators.chat_template import ChatTemplate, Segment, find_template
from pipeline.generators.choice import Choice
from pipeline.generators.llama_engine import EngineOptions, LlamaEngine
from pipeline.generators.prompt_reader import PromptReader, common_prefix
from pipeline.generators.stats import GenerationStats
from pipeline.generators.text_stream import TextStream
from pipeline.messages import Phrase
from pipeline.ports import ChatMessage, GeneratorSpec, Sampling

__all__ = ["EngineOptions", "LlamaCppGenerator"]

LEAST_ANSWER = 16
"""Tokens an answer needs at least; a prompt that leaves fewer is refused."""


class LlamaCppGenerator:
    """Port ``Generator``: one model, one conversation at a time.

    What was made of the last prompt stays in the KV cache, and the next prompt is read only from where it
    differs. Of prompts before that, the lasting part is kept in memory: a source asked about again costs
    nothing the second time. Neither changes a single token (`PromptReader`).

    Args:
        path: A GGUF file.
        context_tokens: Prompt and answer together.
        threads: Threads of llama.cpp, explicit because its own default is half the cores.
        options: Engine options that fit this CPU.
        model_id: Name shown to people; the file's name by default.
        kv_bytes: Memory for the lasting parts of earlier prompts.

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
        kv_bytes: int = 0,
    ) -> None:
        self._engine = LlamaEngine(path, context_tokens, threads, options or EngineOptions())
        self._template = _template_of(self._engine)
        self._spec = GeneratorSpec(model_id or path.stem, self._engine.context_tokens)
        self._stops = frozenset(
            ids[0]
            for ids in (self._engine.tokenize(text, special=True) for text in self._template.stops)
            if len(ids) == 1
        )
        self._reader = PromptReader(self._engine, kv_bytes)
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
        return self._tokens_of(self._template.render(messages, answer=answer))

    def warm(self, messages: Sequence[ChatMessage], cancelled: Callable[[], bool] = lambda: False) -> None:
        """Read a prompt without answering, so that what the next one shares with it is free.

        Does nothing while all of it is in the KV cache still, whatever comes behind it there.

        Raises:
            PromptTooLongError: It does not fit.
            GeneratorError: The engine failed.
        """
        tokens = self.prompt_tokens(messages, answer=False)
        self._check_room(len(tokens), LEAST_ANSWER)
        if not self._reader.holds(tokens):
            self._engine.resume()
            self._reader.read(tokens, (), cancelled)

    def interrupt(self) -> None:
        """Have whoever is at work ask at once whether it was cancelled. Callable from any thread."""
        self._engine.interrupt()

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
        self._engine.resume()
        reused = self._reader.read(prompt, self._marks(messages, prompt), cancelled)
        ready = time.perf_counter()
        stream = TextStream(sampling.stop)
        count = 0
        try:
            if len(self._reader.tokens) < len(prompt):
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

    def score(
        self, messages: Sequence[ChatMessage], continuations: Sequence[str], cancelled: Callable[[], bool]
    ) -> tuple[float, ...]:
        """How likely each text is as the whole answer, its end included; see the port.

        Raises:
            PromptTooLongError: No room is left for the longest continuation.
            GeneratorError: The engine failed.
        """
        prompt = self.prompt_tokens(messages)
        end = self._engine.tokenize(self._template.stops[0], special=True)[:1]
        tails = [self._engine.tokenize(text, special=False) + end for text in continuations]
        whole = len(prompt) + max(map(len, tails), default=1)
        if whole > self._spec.context_tokens:
            raise PromptTooLongError(tokens=whole, limit=self._spec.context_tokens)
        started = time.perf_counter()
        self._engine.resume()
        marks = self._marks(messages, prompt)
        reused = self._reader.read(prompt, marks, cancelled)
        ready = time.perf_counter()
        if len(self._reader.tokens) < len(prompt):
            return ()  # cancelled while reading
        scores = Choice(self._engine, self._reader, tails, cancelled).scores()
        self._stats = GenerationStats(
            prompt_tokens=len(prompt),
            reused_tokens=reused,
            prefill_s=ready - started,
            answer_tokens=0,
            decode_s=0.0,
        )
        return scores

    def _check_room(self, prompt: int, wanted: int) -> int:
        limit = self._spec.context_tokens - min(LEAST_ANSWER, wanted)
        if prompt > limit:
            raise PromptTooLongError(tokens=prompt, limit=limit)
        return min(wanted, self._spec.context_tokens - prompt)

    def _tokens_of(self, segments: Sequence[Segment]) -> list[int]:
        tokens = self._engine.opening_tokens()
        for segment in segments:
            tokens += self._engine.tokenize(segment.text, special=segment.trusted)
        return tokens

    def _marks(self, messages: Sequence[ChatMessage], prompt: list[int]) -> tuple[int, ...]:
        """Where the lasting parts of a prompt end: behind all messages but one, and within that one."""
        if not messages:
            return ()
        *before, last = messages
        ends = [common_prefix(self.prompt_tokens(before, answer=False), prompt)]
        if last.lasting:
            head = replace(last, content=last.content[: last.lasting])
            # Without what closes the message: that may follow by chance, where nothing else does.
            *opened, _ = self._template.render([*before, head], answer=False)
            ends.append(common_prefix(self._tokens_of(opened), prompt))
        return tuple(end for end in ends if end)

    def _tokens(self, sampling: Sampling, room: int, cancelled: Callable[[], bool]) -> Iterator[int]:
        unread: list[int] = []
        with (
            self._engine.following(sampling.grammar) as grammar,
            self._engine.sampler(sampling.temperature, sampling.seed) as sampler,
        ):
            for _ in range(room):
                if (unread and not self._reader.append(unread, cancelled)) or cancelled():
                    return
                token = self._engine.sample(sampler, grammar)
                if token in self._stops or self._engine.ends_text(token):
                    return
                yield token
                unread = [token]


def _template_of(engine: LlamaEngine) -> ChatTemplate:
    template = find_template(engine.metadata("tokenizer.chat_template"))
    if template is None:
        engine.close()
        raise GeneratorError(reason=Phrase("generator_no_template"))
    return template
