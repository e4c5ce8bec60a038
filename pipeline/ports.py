"""The seams of the product: what a backend must offer to take part.

Each port has one contract suite under ``tests/contract`` that runs over all its implementations,
the fakes (``embedders.hash``, ``generators.scripted``) included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pipeline.types import (
    AskRequest,
    Classified,
    ClassifyRequest,
    DayCost,
    Document,
    Encoded,
    Event,
    Explanation,
    IntMatrix,
    Language,
    Reply,
    Role,
    SourceView,
    TableView,
    WordMatches,
)

__all__ = [
    "ChatMessage",
    "Closable",
    "Embedder",
    "EmbedderSpec",
    "Generator",
    "GeneratorSpec",
    "Progress",
    "Reader",
    "Reranker",
    "Sampling",
    "Scorer",
    "Service",
]

Progress = Callable[[int, int], None]
"""Called with (done, total) during long work; units are the caller's (bytes, chunks, tokens)."""


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """Identity of an embedder; two indexes may be mixed only when their specs are equal.

    Attributes:
        id: Model and engine precision, for example ``multilingual-e5-small/int8``.
        dimension: Length of every vector.
        prefix_scheme: ``e5`` (``query: `` / ``passage: ``) or ``none``.
        token_limit: Most tokens of text per call, prefix and special tokens already taken off.
    """

    id: str
    dimension: int
    prefix_scheme: Literal["e5", "none"]
    token_limit: int


@runtime_checkable
class Closable(Protocol):
    """What holds connections or memory that should be given back early."""

    def close(self) -> None:
        """Give it back; harmless a second time."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors of length 1."""

    @property
    def spec(self) -> EmbedderSpec:
        """Who this is; never changes during its life."""
        ...

    def encode(
        self,
        texts: Sequence[str],
        role: Role,
        *,
        with_tokens: bool = False,
        progress: Progress | None = None,
    ) -> Encoded:
        """Encode texts; the role's prefix is added exactly once, here and nowhere else.

        Args:
            texts: Any number of texts, each at most ``spec.token_limit`` tokens long.
            role: ``query`` or ``passage``.
            with_tokens: Also return the normalised token vectors of the same pass, where this embedder has
                any: one that never does is taken by its words instead (`pipeline.text.word_tokens`).
            progress: Called with (texts done, texts in all).

        Raises:
            TextTooLongError: A text is longer than ``spec.token_limit``; nothing is ever cut.
        """
        ...

    def token_spans(self, text: str) -> IntMatrix:
        """Character ranges of the text's tokens, int32 of shape (tokens, 2), any length of text."""
        ...


class Reranker(Protocol):
    """Scores passages against a question; higher is better, any range."""

    @property
    def name(self) -> str:
        """The stage name shown with ``-s``, for example ``cross_encoder``."""
        ...

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """One finite score a passage; an empty sequence gives an empty array."""
        ...


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt.

    ``lasting``: so many of its first characters, and all messages before it, are likely to begin other
    prompts too; an engine may keep what it made of them.
    """

    role: Literal["system", "user", "assistant"]
    content: str
    lasting: int = 0


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to generate. Stop strings end the text and are not part of it.

    ``grammar``: what the text must follow, in llama.cpp's notation (GBNF), from its rule ``root`` on; the
    text is whole unless ``max_tokens`` or a deadline ends it. Empty: anything. A generator of ready texts
    takes no notice of it.
    """

    max_tokens: int = 256
    temperature: float = 0.0
    stop: tuple[str, ...] = ()
    seed: int = 7
    grammar: str = ""


@dataclass(frozen=True, slots=True)
class GeneratorSpec:
    """Identity and size of a generator; ``context_tokens`` holds prompt and answer together."""

    id: str
    context_tokens: int


class Generator(Protocol):
    """Writes text. Not thread-safe unless it says so: ``generators.worker`` owns it."""

    @property
    def spec(self) -> GeneratorSpec:
        """Who this is; never changes during its life."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of a plain text, special tokens not parsed."""
        ...

    def generate(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancelled: Callable[[], bool]
    ) -> Iterator[str]:
        """Yield whole characters as they come; ends early, without error, once ``cancelled()`` is true.

        Raises:
            PromptTooLongError: The prompt leaves no room for an answer.
            GeneratorError: The engine failed; the generator may be unusable afterwards.
            RemoteError: Its server did; the generator is as good as before.
        """
        ...


@runtime_checkable
class Scorer(Protocol):
    """A generator that can also tell how likely given answers are. As thread-safe as that."""

    def score(
        self, messages: Sequence[ChatMessage], continuations: Sequence[str], cancelled: Callable[[], bool]
    ) -> tuple[float, ...]:
        """How likely each text is as the answer, as far as it differs from the others.

        Natural logarithms, at most 0; what follows once a text can be no other any more counts as certain,
        so a single one has 0. The same call gives the same numbers, whatever was asked before. All messages
        but the last one are what calls have in common: an engine that keeps what it has read reads them
        once. Ends early, with an empty result, once ``cancelled()`` is true.

        Raises:
            PromptTooLongError: The prompt leaves no room for the longest continuation.
            GeneratorError: The engine failed; the generator may be unusable afterwards.
        """
        ...


class Reader(Protocol):
    """Reads one file format."""

    def __call__(self, path: Path, file: str) -> list[Document]:
        """Documents of a file; ``file`` is its name inside the knowledge base.

        Raises:
            UnreadableFileError: The file holds no text this reader can use; the message says why.
        """
        ...


class Service(Protocol):
    """What the HTTP layer and the command line talk to. Safe to call from many threads."""

    def ask(self, request: AskRequest, cancelled: Callable[[], bool]) -> Reply:
        """Answer a request; ``cancelled`` is polled at every token and while waiting in the queue.

        Raises:
            RequestError: The request cannot be carried out as it stands.
            BusyError: The queue is full.
            NotReadyError: Models or index are still loading.
            CancelledError: ``cancelled()`` became true.
            IndexUnusableError: There is no usable index.
        """
        ...

    def stream(self, request: AskRequest, cancelled: Callable[[], bool]) -> Iterator[Event]:
        """The same as events: ``Retrieved``, ``Token``…, then ``Finished`` or ``Failed``.

        Errors known before the first event are raised as by ``ask``.
        """
        ...

    def classify(self, request: ClassifyRequest, cancelled: Callable[[], bool]) -> Iterator[Classified]:
        """The texts of a request in their order, each with its label as soon as that is known.

        Raises:
            GeneratorMissingError: At once: this profile has no language model.
            CancelledError: ``cancelled()`` became true.
            PromptTooLongError: Labels and prompt leave no room for a text.
            OtvetError: The generator cannot be loaded, or failed for good.
        """
        ...

    def result(self, result_id: str) -> TableView:
        """The result of a statement, for some minutes.

        Raises:
            NotFoundError: There is none of this id, or no more.
        """
        ...

    def costs(self) -> list[DayCost]:
        """What questions over databases have cost, the newest day first."""
        ...

    def source(self, chunk_id: str) -> SourceView:
        """The passage and its document.

        Raises:
            NotFoundError: No such passage in the current index.
        """
        ...

    def explain(self, request: AskRequest, chunk_id: str = "") -> Explanation:
        """How the answer to a request comes about, without having it written.

        Args:
            request: As for ``ask``.
            chunk_id: A passage to be judged besides, found or not.

        Raises:
            NotFoundError: No such passage in the current index.
        """
        ...

    def match_words(self, question: str, chunk_id: str) -> WordMatches:
        """Which word of a passage late interaction holds against each word of a question.

        Raises:
            NotFoundError: No such passage in the current index.
        """
        ...

    def ready(self) -> bool:
        """True once a search can be answered."""
        ...

    def status(self) -> dict[str, object]:
        """Models, index, queue and memory, as JSON values."""
        ...

    def stuck(self) -> bool:
        """True when the generator has been silent too long. Takes microseconds and waits for nothing."""
        ...

    def parse(self, question: str, language: Language) -> tuple[str, tuple[str, ...]]:
        """The question without its flags, and the flags, as understood."""
        ...
