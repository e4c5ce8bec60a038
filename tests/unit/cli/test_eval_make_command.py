"""``otvet eval make`` and what is done with the drafts, over a real index without a model."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from word_embedder import WordEmbedder

from pipeline import bootstrap
from pipeline.cli.eval import eval as command
from pipeline.indexing import EmbedderSource
from pipeline.settings import load_settings


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    monkeypatch.setenv("OTVET_PROFILE", "search")
    base = tmp_path / "knowledge_base"
    base.mkdir()
    (base / "отпуск.md").write_text("# Отпуск\n\nОтпуск длится 28 дней у каждого.\n", "utf-8")
    (base / "пропуск.md").write_text("# Как получить пропуск\n\nПропуск дают у охраны завода.\n", "utf-8")
    monkeypatch.setattr(bootstrap, "create_embedder", lambda settings: WordEmbedder())
    source = EmbedderSource("words", "e5", WordEmbedder)
    monkeypatch.setattr(bootstrap, "embedder_source", lambda settings: source)
    bootstrap.build(load_settings().settings)
    return tmp_path


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


def test_from_drafts_to_an_evaluation(home) -> None:
    made = json.loads(run("make", "--foreign", "1", "--json"))
    assert {draft["made"] for draft in made} == {"sentence", "heading", "foreign"}
    shown = run("drafts")
    assert "Отпуск длится сколько дней у каждого?" in shown
    assert "28 дней" in shown
    ids = {draft["made"]: draft["id"] for draft in made}
    run("drop", ids["foreign"])
    assert len(json.loads(run("drafts", "--json"))) == 2
    run("restore", ids["foreign"])
    run("accept", ids["sentence"], "--question", "Сколько дней отпуск?", "--answer", "28 дней")
    run("accept", "--all")
    assert json.loads(run("drafts", "--json")) == []
    lines = (home / "questions.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 3
    assert "Сколько дней отпуск?" in lines[0]
    assert run("questions.jsonl", "--json")


def test_which_drafts_must_be_said(home) -> None:
    run("accept", code=2)
    run("accept", "a", "b", "--question", "x", code=2)
    run("drop", code=2)
