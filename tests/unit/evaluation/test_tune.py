"""``otvet tune`` with engines that pretend, and once with a real small model."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipeline import bootstrap
from pipeline.errors import GeneratorError, ModelDamagedError, ModelMissingError
from pipeline.evaluation import tune as tuning
from pipeline.evaluation.duel import Budget
from pipeline.generators import trial as trials
from pipeline.generators.engine_options import EngineOptions
from pipeline.generators.trial import (
    LIBRARY_DEFAULTS,
    Amount,
    EngineChoice,
    EngineTrial,
    engine_version,
    run_once,
)
from pipeline.hardware import physical_cores
from pipeline.models import gguf_file
from pipeline.models.tuned import TUNED, read_tuning
from pipeline.settings import Settings, load_settings
from pipeline.types import Encoded


class Machine:
    """A machine on which a way takes the seconds that ``speed`` says; time passes only there."""

    def __init__(self, speed: Callable[[EngineChoice], float]) -> None:
        self.now = 0.0
        self.speed = speed

    def clock(self) -> float:
        return self.now

    def trial(self, path: Path) -> Callable[[EngineChoice], float]:
        def run(choice: EngineChoice) -> float:
            seconds = self.speed(choice)
            self.now += seconds
            return seconds

        return run

    def embedder(self, settings: Settings) -> _Encoder:
        return _Encoder(self, settings.embedder_threads)


class _Encoder:
    def __init__(self, machine: Machine, threads: int) -> None:
        self._machine = machine
        self._threads = threads

    def encode(self, texts, role, *, with_tokens=False, progress=None) -> Encoded:
        self._machine.now += len(texts) * 0.01 / self._threads
        return Encoded(np.zeros((len(texts), 2), np.float32), None)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    (tmp_path / "encoder").mkdir()
    chosen = {
        "models": tmp_path / "models",
        "home": tmp_path,
        "embedder": str(tmp_path / "encoder"),
        "generator.model": str(tmp_path / "model.gguf"),
    }
    return load_settings(chosen, {}).settings


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Callable[..., tuning.TuneReport]:
    def run(speed: Callable[[EngineChoice], float], seconds: float = 1000.0, cores: int = 4):
        machine = Machine(speed)
        monkeypatch.setattr(tuning, "EngineTrial", machine.trial)
        monkeypatch.setattr(tuning, "physical_cores", lambda: cores)
        monkeypatch.setattr(tuning.os, "cpu_count", lambda: 2 * cores)
        monkeypatch.setattr(bootstrap, "create_embedder", machine.embedder)
        report = tuning.tune(settings, seconds=seconds, clock=machine.clock)
        assert machine.now <= seconds * 1.2
        return report

    return run


def test_on_a_machine_where_nothing_matters_the_defaults_stay(on) -> None:
    found = on(lambda _: 2.0).tuning.generator
    assert found is not None
    assert (found.threads, found.gain) == (4, 1.0)
    assert dict(found.options) == {
        "repack": True, "flash_attention": True, "use_mmap": True, "n_batch": 512, "n_ubatch": 512,
    }  # fmt: skip


def test_what_is_faster_together_is_found(on) -> None:
    """Without repacking 1.5 times, with all hardware threads 1.25 times as fast, the rest worse."""

    def speed(choice: EngineChoice) -> float:
        seconds = 3.0 if choice.options.repack else 2.0
        seconds *= {8: 0.8, 4: 1.0, 3: 1.3, 2: 2.0}[choice.threads]
        return seconds * (1.0 if choice.options.flash_attention else 1.1)

    report = on(speed)
    found = report.tuning.generator
    assert found is not None
    assert (found.options["repack"], found.threads, found.options["flash_attention"]) == (False, 8, True)
    assert found.gain == pytest.approx(1.5 * 1.25, rel=0.01)
    assert found.engine == engine_version()
    won = [way.way for way in report.tried if way.won and way.ratios]
    assert [way.partition(":")[0] for way in won] == ["embedder", "generator", "generator"]


def test_it_is_stored_and_taken_by_what_is_started_next(on, settings: Settings) -> None:
    on(lambda choice: 3.0 if choice.options.repack else 2.0)
    stored = read_tuning(settings.models)
    assert stored is not None
    file = Path(settings.generator.model)
    taken = bootstrap.tuned_generator(settings, settings.generator.model, file)
    assert taken == stored.generator
    assert taken.options["repack"] is False
    assert bootstrap._tuned_threads(settings, settings.embedder) == 8
    assert bootstrap.tuned_generator(settings, "another", file) is None
    # Another file under the same name, or another version of the engine, has to be measured anew.
    file.write_bytes(b"GGUF, longer")
    assert bootstrap.tuned_generator(settings, settings.generator.model, file) is None
    file.write_bytes(b"GGUF")
    data = json.loads((settings.models / TUNED).read_text("utf-8"))
    data["generator"]["engine"] = "llama-cpp-python 0.0.1"
    (settings.models / TUNED).write_text(json.dumps(data), encoding="utf-8")
    assert bootstrap.tuned_generator(settings, settings.generator.model, file) is None
    # So has an option that this version does not know: the model must load all the same.
    data["generator"] |= {"engine": engine_version(), "options": {"colour": 1}}
    (settings.models / TUNED).write_text(json.dumps(data), encoding="utf-8")
    assert bootstrap.tuned_generator(settings, settings.generator.model, file) is None


@pytest.mark.parametrize(
    ("program", "said"), [("print('no JSON')", "no JSON"), ("import time; time.sleep(60)", "longer than")]
)
def test_a_run_that_says_nothing_of_use_is_a_way_that_failed(monkeypatch, program: str, said: str) -> None:
    monkeypatch.setattr(trials, "LONGEST_S", 10 if "JSON" in program else 0.2)
    monkeypatch.setattr(trials, "_COMMAND", (sys.executable, "-c", program))
    with pytest.raises(GeneratorError, match=said):
        EngineTrial(Path("model.gguf"))(EngineChoice(EngineOptions(), 1))


def test_a_slow_machine_keeps_to_its_time_and_to_what_it_could_settle(on) -> None:
    found = on(lambda choice: 12.0 if choice.options.repack else 6.0, seconds=50).tuning.generator
    assert found is not None
    assert found.options["repack"] is True


def test_ways_that_fail_are_out(on) -> None:
    def speed(choice: EngineChoice) -> float:
        if not choice.options.repack or choice.threads != 4:
            raise ModelDamagedError(path="model.gguf", reason="no memory")
        return 2.0

    found = on(speed).tuning.generator
    assert found is not None
    assert (found.options["repack"], found.threads) == (True, 4)


def test_where_the_library_s_own_options_crash_the_product_s_are_where_it_starts(on) -> None:
    def speed(choice: EngineChoice) -> float:
        if choice.options.repack:
            raise GeneratorError(reason="-11")
        return 2.0

    report = on(speed)
    found = report.tuning.generator
    assert found is not None
    assert (found.defaults_run, found.options["repack"], found.gain) == (False, False, 1.0)
    ways = [way for way in report.tried if way.way.startswith("generator")]
    assert [(way.won, way.failed) for way in ways[:3]] == [(False, True), (True, False), (False, True)]


def test_a_model_that_runs_in_no_way_is_an_error(on) -> None:
    def speed(_: EngineChoice) -> float:
        raise GeneratorError(reason="no memory")

    with pytest.raises(GeneratorError):
        on(speed)


def test_without_any_model_there_is_nothing_to_measure(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError):
        tuning.tune(load_settings({"models": tmp_path, "home": tmp_path}, {}).settings, seconds=1)
    assert not (tmp_path / TUNED).exists()


@pytest.mark.models
def test_a_real_small_model(models_folder: Path) -> None:
    file = gguf_file(models_folder / "smollm2-135m-instruct")
    course = tuning.Course(time.perf_counter, lambda _: None)
    found = tuning.tune_generator("smol", file, Budget(3, time.perf_counter), course)
    assert found.seconds > 0
    assert found.gain >= 1.0
    assert course.tried[0].way == str(EngineChoice(LIBRARY_DEFAULTS, physical_cores()))
    assert [way.won for way in course.tried].count(True) >= 1


@pytest.mark.models
def test_one_real_run_settles_how_much_is_measured(models_folder: Path) -> None:
    file = gguf_file(models_folder / "smollm2-135m-instruct")
    run = run_once(file, EngineChoice(EngineOptions(), 1), Amount())
    assert 48 <= run.amount.read <= 256
    assert 4 <= run.amount.written <= 16
    assert run.answer_s > 0
    with pytest.raises(GeneratorError):
        EngineTrial(file.with_name("nonesuch.gguf"))(EngineChoice(EngineOptions(), 1))
