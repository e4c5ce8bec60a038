"""The load script in its short form: counts, not times (cases 26 and 27)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("server", ["fastapi", "flask"])
def test_five_seconds_of_fifty_clients_break_no_promise(server, tmp_path):
    found = tmp_path / "load.json"
    command = [sys.executable, str(ROOT / "benchmarks" / "load.py"), "--server", server, "--json", str(found)]
    command += ["--seconds", "5", "--answers", "40", "--leavers", "10"]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    figures = json.loads(found.read_text(encoding="utf-8"))
    assert figures["failures"] == []
    assert figures["together"]["answered"]["search"] > 0
    assert figures["memory_mb"]["answers"] >= 40
    assert figures["leavers"]["left"] == 10
    assert figures["engine_failure"] == {"model_of_the_reply": "extractive", "restarts": 1}
