"""No library reports its use to anybody (case: a machine that never sees the internet)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CODE = """
import pipeline.bootstrap
import onnxruntime
from pathlib import Path
from pipeline.embedders.onnx import OnnxEmbedder
OnnxEmbedder(Path({folder!r}), threads=1).encode(["слово"], "query")
print(len(list(Path.home().rglob("*"))))
"""


@pytest.mark.models
def test_onnxruntime_prepares_no_reports(models_folder, tmp_path):
    """Where it means to report, it keeps a device number and a database of events in the home folder."""
    environment = {name: value for name, value in os.environ.items() if "TELEMETRY" not in name}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("CI", None)  # it reports nothing from build machines
    code = CODE.format(folder=str(models_folder / "multilingual-e5-small"))
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0"]
