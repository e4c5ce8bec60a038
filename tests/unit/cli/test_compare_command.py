"""``otvet compare`` over a real index with an embedder that is no model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from word_embedder import WordEmbedder

from pipeline import bootstrap
from pipeline.cli.compare import compare as command
from pipeline.errors import InvalidRequestError, QuestionsFileError
from pipeline.evaluation import bootstrap as figures
from pipeline.indexing import EmbedderSource
from pipeline.settings import load_settings
from pipeline.strategies import STRATEGIES

QUESTIONS = (
    '{"question": "Сколько дней длится отпуск?", "files": ["отпуск.md"]}\n'
    '{"question": "Где стоит принтер?", "files": ["принтер.md"]}\n'
    '{"question": "Кто чинит крышу?", "files": []}\n'
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(figures, "PERMUTATIONS", 200)
    monkeypatch.setattr(figures, "RESAMPLES", 100)
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    monkeypatch.setenv("OTVET_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("OTVET_PROFILE", "search")
    monkeypatch.setenv("OTVET_LANGUAGE", "en")
    base = tmp_path / "knowledge_base"
    base.mkdir()
    (base / "отпуск.md").write_text("# Отпуск\n\nОтпуск длится 28 дней.\n", "utf-8")
    (base / "принтер.md").write_text("# Принтер\n\nПринтер стоит в коридоре.\n", "utf-8")
    (tmp_path / "q.jsonl").write_text(QUESTIONS, "utf-8")
    monkeypatch.setattr(bootstrap, "create_embedder", lambda settings: WordEmbedder())
    source = EmbedderSource("words", "e5", WordEmbedder)
    monkeypatch.setattr(bootstrap, "embedder_source", lambda settings: source)
    bootstrap.build(load_settings().settings)
    return tmp_path


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


def test_one_question_by_all_strategies() -> None:
    shown = run("Сколько", "дней", "длится", "отпуск?", "-k")
    for name in STRATEGIES.names():
        assert f"\n{name} + " in shown
    assert "hybrid-z + late-interaction *" in shown
    assert "отпуск.md" in shown
    told = json.loads(run("Сколько дней длится отпуск?", "--json", "--strategy", "dense"))
    assert [way["strategy"] for way in told["ways"]] == ["hybrid-z", "dense"]
    assert told["overlaps"][0][0] == 1.0


def test_answers_are_written_on_demand() -> None:
    """This profile has no language model: the answers are those of the sources."""
    told = json.loads(run("Сколько дней длится отпуск?", "--json", "--answers", "--strategy", "keyword"))
    assert [answer["strategy"] for answer in told["answers"]] == ["hybrid-z", "keyword"]
    assert "28 дней" in told["answers"][1]["answer"]
    assert "28 дней" in run("Сколько дней длится отпуск?", "--answers", "--strategy", "keyword")


def test_a_set_its_history_and_its_picture(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    told = json.loads(run("--questions", "q.jsonl", "--json"))
    assert (told["questions"], told["count"], told["left_out"]) == ("q.jsonl", 3, [])
    usual: dict[str, Any] = next(way for way in told["ways"] if way["default"])
    assert usual["figures"]["hit@1"][0] == 1.0
    monkeypatch.setenv("OTVET_SEARCH__CANDIDATES", "5")
    shown = run("--questions", "q.jsonl", "--plot", "h.svg", "--measure", "hit@1")
    assert "hybrid-z + late-interaction *" in shown
    assert (home / "h.svg").read_text("utf-8").startswith("<svg")
    history = run("--history")
    assert "candidates 30 → 5" in history
    assert len(json.loads(run("--history", "--json"))) == 2 * len(told["ways"])
    pytest.importorskip("matplotlib")
    run("--history", "--plot", "h.png")
    assert (home / "h.png").read_bytes().startswith(b"\x89PNG")


def test_a_missing_cross_encoder_is_said() -> None:
    assert "left out" in run("--questions", "q.jsonl", "--reranker", "cross-encoder", "--strategy", "dense")
    assert "No cross-encoder" in run("отпуск", "--reranker", "cross-encoder", "--strategy", "dense")


def test_what_cannot_be_done_is_said() -> None:
    assert "no history" in run("--history")
    assert run(code=2) == ""
    assert run("отпуск", "--history", code=2) == ""
    assert "q.jsonl" in run("--questions", "q.jsonl", "--strategy", "dense")
    run("--history", "--plot", "h.svg", "--measure", "luck", code=2)
    run("--history", "--measure", "luck", code=2)
    with pytest.raises(InvalidRequestError):
        run("отпуск", "--strategy", "nearest")
    with pytest.raises(QuestionsFileError):
        run("--questions", "none.jsonl")
