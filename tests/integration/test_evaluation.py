"""``otvet eval`` with the real embedder over the handbook: killed, and taken up again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline import bootstrap
from pipeline.settings import Settings

pytestmark = pytest.mark.models
ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "tests" / "data" / "handbook.questions.jsonl"
PROGRAM = [sys.executable, "-c", "from pipeline.cli.main import main; main()"]


@pytest.fixture(scope="module")
def home(models_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(ROOT / "knowledge_base", home / "knowledge_base")
    bootstrap.build(Settings(home=home, models=models_folder, profile="search"))
    return home


def start(home: Path, *arguments: str) -> subprocess.Popen[str]:
    places = {"OTVET_HOME": str(home), "OTVET_PROFILE": "search", "PYTHONIOENCODING": "utf-8"}
    command = [*PROGRAM, "eval", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=os.environ | places, text=True, encoding="utf-8", cwd=home, **pipes)  # type: ignore[call-overload,no-any-return]


def run(home: Path, *arguments: str) -> str:
    process = start(home, *arguments)
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out


def records(home: Path) -> list[str]:
    found = (home / "embeddings/.eval/runs").glob("*/records.jsonl")
    return [line for path in found for line in path.read_text("utf-8", "replace").splitlines() if line]


def test_a_killed_run_goes_on_where_it_was(home: Path) -> None:
    killed = start(home, str(QUESTIONS))
    while len(records(home)) < 5:
        assert killed.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    killed.kill()
    killed.communicate()
    done = len(records(home))
    bars = ("--fail-under", "hit@3=0.9", "--fail-over", "refused_wrongly=0.1")
    (only,) = json.loads(run(home, str(QUESTIONS), "--json", *bars))["runs"]
    assert 5 <= done < 60
    assert len(only["outcomes"]) == 60
    assert len({outcome["key"] for outcome in only["outcomes"]}) == 60
    # What was written before the kill was not asked again; at most the line it was killed in.
    assert len(records(home)) <= 61
    figures = {name: figure["value"] for name, figure in only["figures"].items()}
    assert figures["hit@3"] >= 0.9
    assert figures["citations_valid"] == 1.0
    assert only["confusion"]["far"]["refused"] >= 9
