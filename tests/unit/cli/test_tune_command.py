"""``otvet tune``, and ``otvet models install`` that runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.cli import models as models_command
from pipeline.cli.doctor import doctor
from pipeline.cli.models import models
from pipeline.cli.settings import settings
from pipeline.cli.tune import tune
from pipeline.errors import ModelMissingError
from pipeline.evaluation import tune as tuning
from pipeline.hardware import processor
from pipeline.models.tuned import TunedEncoder, TunedGenerator, Tuning, write_tuning

E5 = "multilingual-e5-small"
REPORT = tuning.TuneReport(
    Tuning(
        processor="p",
        measured="2026-01-02T03:04:05+00:00",
        generator=TunedGenerator(
            model="qwen", size=1, engine="e 1", threads=2, seconds=5.0, gain=1.31,
            options={
                "repack": False, "flash_attention": True, "use_mmap": True, "n_batch": 512, "n_ubatch": 256,
            },
        ),
        encoder=TunedEncoder(model="e5", engine="o 1", threads=4, seconds=0.1, gain=1.0),
    ),
    (tuning.Tried("generator: threads 2", (1.3, 1.31, 1.32), won=True),),
    41.6,
)  # fmt: skip


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and models folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    monkeypatch.setenv("OTVET_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("OTVET_LANGUAGE", "en")
    return tmp_path


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    given: list[float] = []

    def run(settings, step, *, seconds):
        given.append(seconds)
        step("generator: threads 2")
        return REPORT

    monkeypatch.setattr(tuning, "tune", run)
    return given


def test_it_tells_what_it_found(measured) -> None:
    result = CliRunner().invoke(tune, ["--seconds", "20"])
    assert result.exit_code == 0, result.output
    assert measured == [20.0]
    assert "Measured in 42 s, 1 ways" in result.output
    assert "qwen: 2 threads, repacked weights off, flash attention on" in result.output
    assert "batch 512/256; 1.31 times as fast" in result.output
    assert "e5: 4 threads" in result.output


def test_in_russian_too(measured, monkeypatch) -> None:
    monkeypatch.setenv("OTVET_LANGUAGE", "ru")
    assert "потоков 2, перестановка весов нет" in CliRunner().invoke(tune).output


def test_as_data(measured) -> None:
    data = json.loads(CliRunner().invoke(tune, ["--json"]).stdout)
    assert data["generator"]["options"]["repack"] is False
    assert data["tried"] == [
        {"way": "generator: threads 2", "ratios": [1.3, 1.31, 1.32], "won": True, "failed": False}
    ]
    assert data["seconds"] == 41.6


def test_without_models_it_says_what_to_install() -> None:
    assert isinstance(CliRunner().invoke(tune).exception, ModelMissingError)


@pytest.fixture
def installing(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Nothing is installed or run; the commands that would be are kept, and fail."""
    commands: list[list[str]] = []

    class Failed:
        returncode = 9

    def run(command, check):
        commands.append(command)
        return Failed

    monkeypatch.setattr(models_command, "install", lambda *_, **__: None)
    monkeypatch.setattr(models_command.subprocess, "run", run)
    return commands


def test_an_installation_measures_and_survives_a_failure_of_that(installing) -> None:
    result = CliRunner().invoke(models, ["install", E5])
    assert result.exit_code == 0, result.output
    assert [command[-1] for command in installing] == ["tune"]
    assert "Tuning for this processor failed (9)" in result.output


@pytest.mark.parametrize("arguments", [["--no-tune", E5], ["ms-marco-minilm-l12"]])
def test_it_does_not_where_it_is_not_wanted_or_of_no_use(installing, arguments) -> None:
    assert CliRunner().invoke(models, ["install", *arguments]).exit_code == 0
    assert installing == []


def test_settings_and_doctor_show_what_was_measured_here(place) -> None:
    shown = CliRunner().invoke(settings).output
    assert "Language model" not in shown
    tuned = REPORT.tuning.model_copy(update={"processor": processor()})
    write_tuning(place / "models", tuned)
    shown = CliRunner().invoke(settings).output
    assert "Language model qwen: 2 threads" in shown
    assert "Search model e5: 4 threads" in shown
    findings = {one["check"]: one for one in json.loads(CliRunner().invoke(doctor, ["--json"]).stdout)}
    assert "e5: 4 threads (2026-01-02" in findings["Tuning for this processor"]["detail"]
    write_tuning(place / "models", REPORT.tuning)
    assert "Language model qwen" not in CliRunner().invoke(settings).output
