"""Measuring one way of running a language model."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from pipeline.errors import GeneratorError
from pipeline.generators.engine_options import EngineOptions
from pipeline.generators.llama_engine import LlamaEngine

__all__ = [
    "ENGINE",
    "LIBRARY_DEFAULTS",
    "Amount",
    "EngineChoice",
    "EngineTrial",
    "Run",
    "challengers",
    "engine_version",
    "run_once",
]

ENGINE = "llama-cpp-python"

LIBRARY_DEFAULTS = EngineOptions(repack=True, n_batch=512, n_ubatch=512)
"""What llama.cpp does when it is not told otherwise, for prompts of the length that occur here."""

READ, WRITTEN = 400, 60
"""Tokens of a typical answer: read behind what the KV cache holds already, and written."""

LONGEST_S = 300
"""Seconds after which a run is given up: loading from a slow disk included, it takes a few."""

# -P: "pipeline" is a name that other people's folders have too.
_COMMAND = (sys.executable, "-P", "-X", "utf8", "-m", "pipeline.generators.trial")

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


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens that a run reads and writes; 0 where the first run has to settle that."""

    read: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """What a run found: seconds a token, and how many tokens suit this machine."""

    read_s: float
    written_s: float
    amount: Amount

    @property
    def answer_s(self) -> float:
        """Seconds of a typical answer."""
        return READ * self.read_s + WRITTEN * self.written_s


class EngineTrial:
    """Has a model read and write a little in a given way, each time in a process of its own.

    Some ways do not fail but crash: llama.cpp's own default does on some processors with AMX
    (https://github.com/ggml-org/llama.cpp/pull/26954).

    Args:
        path: The GGUF file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._amount = Amount()

    def __call__(self, choice: EngineChoice) -> float:
        """Seconds of a typical answer.

        Raises:
            GeneratorError: The model could not be run in this way.
        """
        asked = {"path": str(self._path), "threads": choice.threads, **asdict(self._amount)}
        request = json.dumps({**asked, "options": asdict(choice.options)})
        try:
            done = subprocess.run(
                [*_COMMAND, request],
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=False,
                timeout=LONGEST_S,
            )
        except subprocess.TimeoutExpired as error:
            raise GeneratorError(reason=f"{choice}: longer than {LONGEST_S} s") from error
        if done.returncode != 0:
            detail = (done.stderr.strip().splitlines() or [""])[-1]
            raise GeneratorError(reason=f"{choice}: {done.returncode} {detail}".strip())
        try:
            told = json.loads(done.stdout)
        except ValueError as error:  # something else has written there
            raise GeneratorError(reason=f"{choice}: {done.stdout[:200]!r}") from error
        self._amount = Amount(**told.pop("amount"))
        return Run(**told, amount=self._amount).answer_s


def run_once(path: Path, choice: EngineChoice, amount: Amount) -> Run:
    """Load, read, write, free; about two seconds on any machine.

    Raises:
        ModelMissingError: There is no such file.
        ModelDamagedError: The model could not be loaded in this way.
        GeneratorError: It could not be run.
    """
    engine = LlamaEngine(path, _CONTEXT, choice.threads, choice.options)
    tokens = [1000 + 37 * number % 20_000 for number in range(_MOST_READ + _MOST_WRITTEN)]
    try:
        _timed(engine, tokens[:_LEAST_READ])  # pages the file in and starts the threads
        if not amount.read:
            amount = _settled(engine, tokens)
        read = _timed(engine, tokens[: amount.read]) / amount.read
        written = _timed(engine, *([token] for token in tokens[-amount.written :])) / amount.written
    finally:
        engine.close()
    return Run(read, written, amount)


def _settled(engine: LlamaEngine, tokens: Sequence[int]) -> Amount:
    read = _timed(engine, tokens[:_LEAST_READ]) / _LEAST_READ
    written = _timed(engine, *([token] for token in tokens[:_LEAST_WRITTEN])) / _LEAST_WRITTEN
    return Amount(
        read=int(min(_MOST_READ, max(_LEAST_READ, _READ_S / max(read, 1e-9)))),
        written=int(min(_MOST_WRITTEN, max(_LEAST_WRITTEN, _WRITE_S / max(written, 1e-9)))),
    )


def _timed(engine: LlamaEngine, *calls: Sequence[int]) -> float:
    engine.keep(0)
    started = time.perf_counter()
    for tokens in calls:
        for first in range(0, len(tokens), engine.n_batch):
            engine.evaluate(tokens[first : first + engine.n_batch])
    return time.perf_counter() - started


def main() -> None:
    """One run, asked for and told as JSON; a process of its own for `EngineTrial`."""
    asked = json.loads(sys.argv[1])
    choice = EngineChoice(EngineOptions(**asked["options"]), asked["threads"])
    run = run_once(Path(asked["path"]), choice, Amount(asked["read"], asked["written"]))
    sys.stdout.write(json.dumps(asdict(run)) + "\n")


if __name__ == "__main__":
    main()
