"""What ``otvet tune`` found is kept for this processor and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.hardware import processor
from pipeline.models.tuned import TUNED, TunedEncoder, TunedGenerator, Tuning, read_tuning, write_tuning

GENERATOR = TunedGenerator(
    model="m", size=3, engine="llama-cpp-python 0", threads=2, options={"repack": True}, seconds=1.0, gain=1.2
)
ENCODER = TunedEncoder(model="e", engine="onnxruntime 1", threads=1, seconds=0.1, gain=1.0)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    tuning = Tuning(processor=processor(), measured="2026-01-01", generator=GENERATOR, encoder=ENCODER)
    write_tuning(tmp_path / "models", tuning)
    assert read_tuning(tmp_path / "models") == tuning
    assert [path.name for path in (tmp_path / "models").iterdir()] == [TUNED]


def test_another_processor_ignores_it(tmp_path: Path) -> None:
    write_tuning(tmp_path, Tuning(processor="another one", measured="", generator=GENERATOR))
    assert read_tuning(tmp_path) is None


def test_nothing_there_and_nonsense_there_mean_defaults(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert read_tuning(tmp_path) is None
    assert not caplog.records
    (tmp_path / TUNED).write_text('{"format": 2}', encoding="utf-8")
    assert read_tuning(tmp_path) is None
    assert TUNED in caplog.text


def test_the_processor_is_named() -> None:
    assert processor() == processor()
    assert "," in processor()
