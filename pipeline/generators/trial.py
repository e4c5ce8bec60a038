"""Measuring one way of running a language model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from pipeline.generators.engine_options import EngineOptions
from pipeline.generators.llama_engine import LlamaEngine

__all__ = ["ENGINE", "LIBRARY_DEFAULTS", "EngineChoice", "EngineTrial", "challengers", "engine_version"]

ENGINE = "llama-cpp-python"

LIBRARY_DEFAULTS = EngineOptions(repack=True, n_batch=512, n_ubatch=512)
"""What llama.cpp does when it is not told otherwise, for prompts of the length that occur here."""

READ, WRITTEN = 400, 60
"""Tokens of a typical answer: read behind what the KV cache holds already, and written."""

Change = Callable[["EngineChoice"], "EngineChoice"]

_CONTEXT = 1024
_READ_S, _WRITE_S = 1.6, 0.6
_MOST_READ, _LEAST_READ = 256, 48
_MOST_WRITTEN, _LEAST_WRITTEN = 16, 4


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """A way to run the model."""

    options: EngineOptions
    threads: int

    def __str__(self) -> str:
        own = self.options
        words = [
            "repack" if own.repack else "no repack",
            "flash attention" if own.flash_attention else "no flash attention",
            "mmap" if own.use_mmap else "no mmap",
        ]
        return f"generator: threads {self.threads}, {', '.join(words)}, batch {own.n_batch}/{own.n_ubatch}"


def engine_version() -> str:
    """The package that runs the model, with its version."""
    return f"{ENGINE} {metadata.version(ENGINE)}"


def challengers(champion: EngineChoice, cores: int, logical: int) -> list[Change]:
    """One change each, the most telling first; each is made to whoever is champion by then.

    Args:
        champion: The way to start with.
        cores: Physical cores.
        logical: Hardware threads.
    """
    own = champion.options

    def options(**changes: Any) -> Change:  # noqa: ANN401
        return lambda choice: replace(choice, options=replace(choice.options, **changes))

    def threads(count: int) -> Change:
        return lambda choice: replace(choice, threads=count)

    # Half: on processors with fast and slow cores everybody waits for the slow ones.
    counts = {count for count in (logical, cores - 1, cores // 2) if count >= 1} - {champion.threads}
    return [
        options(repack=not own.repack),
        *(threads(count) for count in sorted(counts, reverse=True)),
        options(flash_attention=not own.flash_attention),
        options(n_ubatch=128),
        options(use_mmap=not own.use_mmap),
    ]


class EngineTrial:
    """Loads a model in a given way, lets it read and write a little, and frees it.

    How much is settled by the first run, so that one takes about two seconds on any machine.

    Args:
        path: The GGUF file.
        clock: Seconds from any moment on.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.perf_counter) -> None:
        self._path = path
        self._clock = clock
        self._read = self._written = 0

    def __call__(self, choice: EngineChoice) -> float:
        """Seconds of a typical answer.

        Raises:
            ModelMissingError: There is no such file.
            ModelDamagedError: The model could not be loaded in this way.
            GeneratorError: It could not be run.
        """
        engine = LlamaEngine(self._path, _CONTEXT, choice.threads, choice.options)
        try:
            tokens = [1000 + 37 * number % 20_000 for number in range(_MOST_READ + _MOST_WRITTEN)]
            self._timed(engine, tokens[:_LEAST_READ])  # pages the file in and starts the threads
            if not self._read:
                self._settle(engine, tokens)
            read = self._timed(engine, tokens[: self._read]) / self._read
            written = self._timed(engine, *([token] for token in tokens[-self._written :])) / self._written
        finally:
            engine.close()
        return READ * read + WRITTEN * written

    def _settle(self, engine: LlamaEngine, tokens: Sequence[int]) -> None:
        read = self._timed(engine, tokens[:_LEAST_READ]) / _LEAST_READ
        written = self._timed(engine, *([token] for token in tokens[:_LEAST_WRITTEN])) / _LEAST_WRITTEN
        self._read = int(min(_MOST_READ, max(_LEAST_READ, _READ_S / max(read, 1e-9))))
        self._written = int(min(_MOST_WRITTEN, max(_LEAST_WRITTEN, _WRITE_S / max(written, 1e-9))))

    def _timed(self, engine: LlamaEngine, *calls: Sequence[int]) -> float:
        engine.keep(0)
        started = self._clock()
        for tokens in calls:
            for first in range(0, len(tokens), engine.n_batch):
                engine.evaluate(tokens[first : first + engine.n_batch])
        return self._clock() - started
