"""A generator behind an OpenAI-compatible server: ``/v1/chat/completions``, streamed.

Several calls may run at once. It has no scores for given answers (`pipeline.ports.Scorer`): the protocol
has no call for that.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from typing import Any

from pipeline.errors import PromptTooLongError, RemoteBrokenError, RemoteError, RemoteRefusedError
from pipeline.generators.stats import GenerationStats
from pipeline.generators.text_stream import TextStream
from pipeline.messages import Phrase
from pipeline.ports import ChatMessage, GeneratorSpec, Sampling
from pipeline.remote.client import RemoteClient
from pipeline.remote.replies import told
from pipeline.text.token_estimate import upper_estimate

__all__ = ["OpenAiGenerator"]

_COUNTED_TEXTS = 512
_TOO_LONG = re.compile(
    r"context|too (?:long|large|many)|maximum.{0,40}(?:length|tokens)|exceed", re.IGNORECASE
)


class _Own(threading.local):
    """What belongs to the thread that reads it."""

    stats = GenerationStats()


class OpenAiGenerator:
    """Port ``Generator``; safe to use from many threads.

    Args:
        client: Sends the requests; closed with the generator.
        model: Its name at the server.
        context_tokens: As ``GeneratorSpec.context_tokens``.
    """

    def __init__(self, client: RemoteClient, model: str, *, context_tokens: int) -> None:
        self._client = client
        self._model = model
        self._spec = GeneratorSpec(f"remote/{model}", context_tokens)
        self._counts = True
        self._counted = lru_cache(_COUNTED_TEXTS)(self._count)
        self._own = _Own()

    @property
    def spec(self) -> GeneratorSpec:
        """Who this is."""
        return self._spec

    @property
    def stats(self) -> GenerationStats:
        """Measurements of this thread's last generation."""
        return self._own.stats

    def count_tokens(self, text: str) -> int:
        """Tokens as the server counts them (llama.cpp and vLLM do), else more than there are likely to be."""
        if self._counts and text:
            try:
                return self._counted(text)
            except RemoteRefusedError:
                self._counts = False  # this server has no such call
            except RemoteError:
                pass  # it may answer again: an estimate now, its own count the next time
        return upper_estimate(text)

    def generate(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancelled: Callable[[], bool]
    ) -> Iterator[str]:
        """Yield text as it comes; see the port.

        Raises:
            PromptTooLongError: The server says so, or it is certain.
            RemoteError: It does not answer, refuses, or breaks off.
        """
        self._check(messages)
        begun, first, pieces = time.monotonic(), 0.0, 0
        stream, ended = TextStream(sampling.stop), False
        with closing(self._events(messages, sampling, cancelled)) as events:
            for event in events:
                text, last = _content(event)
                ended = ended or last
                first = first or time.monotonic()
                pieces += bool(text)
                if shown := stream.push(text.encode("utf-8", "replace")):
                    yield shown
                if stream.stopped:
                    break
        if not (ended or stream.stopped or cancelled()):
            raise RemoteBrokenError(url=self._url(), reason=Phrase("remote_cut"))
        if shown := stream.close():
            yield shown
        now = time.monotonic()
        self._own.stats = GenerationStats(
            prefill_s=(first or now) - begun, answer_tokens=pieces, decode_s=now - (first or now)
        )

    def replicas(self) -> list[dict[str, object]]:
        """Every server, as JSON values."""
        return self._client.status()

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _events(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancelled: Callable[[], bool]
    ) -> Generator[Mapping[str, Any], None, None]:
        body = self._body(messages, sampling)
        try:
            begun = False
            with closing(self._client.stream("/chat/completions", body, cancelled)) as events:
                for event in events:
                    begun = True
                    if event.get("error") is not None:
                        raise RemoteRefusedError(url=self._url(), http=200, reason=told(event))
                    yield event
            if not begun and not cancelled():
                # llama-cpp-python's server says what is wrong only to those who want no stream.
                self._client.call("/chat/completions", {**body, "stream": False, "max_tokens": 1}, cancelled)
        except RemoteRefusedError as error:
            if error.values["http"] in (200, 400, 413, 422) and _TOO_LONG.search(str(error.values["reason"])):
                tokens = sum(upper_estimate(message.content) for message in messages)
                raise PromptTooLongError(tokens=tokens, limit=self._spec.context_tokens - 1) from error
            raise

    def _body(self, messages: Sequence[ChatMessage], sampling: Sampling) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": _sound(message.content)} for message in messages],
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "seed": sampling.seed,
            "stream": True,
        }
        if sampling.stop:
            body["stop"] = list(sampling.stop)[:4]  # more are refused; all are looked for here
        if sampling.grammar:
            body["grammar"] = sampling.grammar
        return body

    def _check(self, messages: Sequence[ChatMessage]) -> None:
        """A word is a token at least: what has more of them than the context needs no asking."""
        least = sum(len(message.content.split()) for message in messages)
        if least >= self._spec.context_tokens:
            raise PromptTooLongError(tokens=least, limit=self._spec.context_tokens - 1)

    def _count(self, text: str) -> int:
        # llama.cpp reads "content", vLLM "model" and "prompt"; each passes over what is the other's.
        text = _sound(text)
        body = {"content": text, "prompt": text, "model": self._model, "add_special_tokens": False}
        reply = self._client.call("//tokenize", body)
        tokens, count = reply.get("tokens"), reply.get("count")
        if isinstance(count, int):
            return count
        if isinstance(tokens, list):
            return len(tokens)
        raise RemoteRefusedError(url=self._url(), http=200, reason=Phrase("remote_not_json"))

    def _url(self) -> str:
        return str(self._client.status()[0]["url"])


def _content(event: Mapping[str, Any]) -> tuple[str, bool]:
    """The text of an event, and whether it is the last one; one that holds nothing of that says nothing."""
    choices = event.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        return "", False
    delta = choice.get("delta")
    text = delta.get("content") if isinstance(delta, Mapping) else None
    return text if isinstance(text, str) else "", bool(choice.get("finish_reason"))


def _sound(text: str) -> str:
    """A lone surrogate cannot be sent."""
    return text.encode("utf-8", "replace").decode("utf-8")
