"""``otvet tune``: the fastest way to run the installed models on this machine, measured."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TypeVar

from pipeline import bootstrap
from pipeline.errors import GeneratorError, ModelMissingError, OtvetError
from pipeline.evaluation.duel import Budget, Referee
from pipeline.generators.engine_options import EngineOptions
from pipeline.generators.trial import (
    LIBRARY_DEFAULTS,
    EngineChoice,
    EngineTrial,
    challengers,
    engine_version,
)
from pipeline.hardware import physical_cores, processor
from pipeline.models.layout import gguf_file, locate
from pipeline.models.tuned import TunedEncoder, TunedGenerator, Tuning, read_tuning, write_tuning
from pipeline.ports import Embedder
from pipeline.settings import Settings

__all__ = ["SECONDS", "Course", "Tried", "TuneReport", "tune", "tune_encoder", "tune_generator"]

SECONDS = 50.0
"""Time for all of it: what is not settled by then stays at the defaults."""

_ENCODER_SHARE = 0.15

T = TypeVar("T")
Clock = Callable[[], float]
Step = Callable[[str], None]
"""Called with what is tried now."""

_QUERIES = 8
_PASSAGES = 8
_PASSAGE = (
    "Отпуск предоставляется по графику, который утверждают до середины декабря. Заявление подают за две "
    "недели, приказ готовит отдел кадров. The schedule is kept in the shared folder of the department. "
) * 3


@dataclass(frozen=True, slots=True)
class Tried:
    """One way that was tried: how many times faster in each comparison, and whether it was taken.

    Without a comparison it failed, or there was no time for one.
    """

    way: str
    ratios: tuple[float, ...]
    won: bool
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """How tuning goes: its clock, who is told what is tried next, and all that was tried so far."""

    clock: Clock
    step: Step
    tried: list[Tried] = field(default_factory=list)

    def compete(self, referee: Referee[T], changes: Sequence[Callable[[T], T]]) -> float:
        """Try every change; returns how many times faster the last champion is than the first."""
        gain = 1.0
        self.tried.append(Tried(str(referee.champion), (), won=True))
        for change in changes:
            challenger = change(referee.champion)
            self.step(str(challenger))
            duel = referee.challenge(challenger)
            ratios = tuple(round(ratio, 3) for ratio in duel.ratios)
            self.tried.append(Tried(str(challenger), ratios, duel.won, duel.failed))
            if duel.won:
                gain *= statistics.median(duel.ratios)
        return round(gain, 3)


@dataclass(frozen=True, slots=True)
class TuneReport:
    """What was measured: what is stored, the ways tried, and the seconds that took."""

    tuning: Tuning
    tried: tuple[Tried, ...]
    seconds: float


def tune(
    settings: Settings,
    step: Step = lambda _: None,
    *,
    seconds: float = SECONDS,
    clock: Clock = time.perf_counter,
) -> TuneReport:
    """Measure, and store the result in the models folder.

    Models that are not installed are left out; what was stored of them is kept.

    Args:
        settings: Which models; threads set there by hand win over what is stored.
        step: Told what is tried now.
        seconds: Time to spend; a run that has begun is finished.
        clock: Seconds from any moment on.

    Raises:
        ModelMissingError: None of the models is installed.
    """
    started = clock()
    chosen = bootstrap.models_in_force(settings)
    found = read_tuning(settings.models) or Tuning(processor=processor(), measured="")
    course = Course(clock, step)
    missing: list[ModelMissingError] = []
    try:
        budget = Budget(seconds * _ENCODER_SHARE, clock)
        found = found.model_copy(update={"encoder": tune_encoder(settings, budget, course)})
    except ModelMissingError as error:
        missing.append(error)
    try:
        if chosen.generator is not None:
            file = gguf_file(locate(settings.models, chosen.generator))
            budget = Budget(seconds - (clock() - started), clock)
            generator = tune_generator(chosen.generator, file, budget, course)
            found = found.model_copy(update={"generator": generator})
    except ModelMissingError as error:
        missing.append(error)
    if not course.tried:
        raise missing[0]
    tuning = found.model_copy(update={"measured": datetime.now(UTC).isoformat(timespec="seconds")})
    write_tuning(settings.models, tuning)
    return TuneReport(tuning, tuple(course.tried), clock() - started)


def tune_generator(name: str, file: Path, budget: Budget, course: Course) -> TunedGenerator:
    """Start from the library's own options and try one change after the other.

    Raises:
        GeneratorError: The model does not run with the library's options, nor with the product's.
    """
    start = EngineChoice(LIBRARY_DEFAULTS, physical_cores())
    trial, defaults_run = EngineTrial(file), True
    course.step(str(start))
    try:
        referee = Referee(start, trial, budget, (OtvetError,))
    except GeneratorError:
        # They crash on some processors; what the product does untuned is the next best way to start.
        course.tried.append(Tried(str(start), (), won=False, failed=True))
        start, defaults_run = EngineChoice(EngineOptions(), physical_cores()), False
        course.step(str(start))
        referee = Referee(start, trial, budget, (OtvetError,))
    gain = course.compete(referee, challengers(start, physical_cores(), os.cpu_count() or 1))
    return TunedGenerator(
        model=name,
        size=file.stat().st_size,
        engine=engine_version(),
        threads=referee.champion.threads,
        options=asdict(referee.champion.options),
        seconds=round(referee.cost, 3),
        gain=gain,
        defaults_run=defaults_run,
    )


def tune_encoder(settings: Settings, budget: Budget, course: Course) -> TunedEncoder:
    """Threads of the embedder; its weights are the same on every machine, or indexes could not be moved."""
    embedders: dict[_Threads, Embedder] = {}

    def measure(way: _Threads) -> float:
        if way not in embedders:
            changed = settings.model_copy(update={"embedder_threads": way.count})
            embedders[way] = bootstrap.create_embedder(changed)
        started = course.clock()
        for _ in range(_QUERIES):
            embedders[way].encode([_PASSAGE[:60]], "query", with_tokens=True)
        embedders[way].encode([_PASSAGE] * _PASSAGES, "passage", with_tokens=True)
        return course.clock() - started

    start = _Threads(physical_cores())
    measure(start)
    course.step(str(start))
    referee = Referee(start, measure, budget)
    counts = {os.cpu_count() or 1, max(1, start.count // 2)} - {start.count}
    ways = [lambda _, count=count: _Threads(count) for count in sorted(counts)]
    gain = course.compete(referee, ways)
    return TunedEncoder(
        model=bootstrap.models_in_force(settings).embedder,
        engine=f"onnxruntime {metadata.version('onnxruntime')}",
        threads=referee.champion.count,
        seconds=round(referee.cost, 4),
        gain=gain,
    )


@dataclass(frozen=True, slots=True)
class _Threads:
    count: int

    def __str__(self) -> str:
        return f"embedder: threads {self.count}"
