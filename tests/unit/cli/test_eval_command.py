"""``otvet eval`` over a real index with an embedder that is no model."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from word_embedder import WordEmbedder

from pipeline import bootstrap
from pipeline.cli.eval import eval as command
from pipeline.errors import QuestionsFileError
from pipeline.indexing import EmbedderSource
from pipeline.stores import json_store

QUESTIONS = (
    '{"question": "Сколько дней длится отпуск?", "files": ["отпуск.md"], "answer_any": ["28 дней"]}\n'
    '{"question": "Где стоит принтер?", "files": ["принтер.md", "нет.md"]}\n'
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    monkeypatch.setenv("OTVET_PROFILE", "search")
    base = tmp_path / "knowledge_base"
    base.mkdir()
    (base / "отпуск.md").write_text("# Отпуск\n\nОтпуск длится 28 дней.\n\n" + "Ещё о днях. " * 60, "utf-8")
    (base / "принтер.md").write_text("# Принтер\n\nПринтер стоит в коридоре.\n", "utf-8")
    (tmp_path / "q.jsonl").write_text(QUESTIONS, "utf-8")
    monkeypatch.setattr(bootstrap, "create_embedder", lambda settings: WordEmbedder())
    source = EmbedderSource("words", "e5", WordEmbedder)
    monkeypatch.setattr(bootstrap, "embedder_source", lambda settings: source)
    bootstrap.build(bootstrap_settings())
    return tmp_path


def bootstrap_settings():
    from pipeline.settings import load_settings

    return load_settings().settings


def run(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_the_index_as_it_is(home) -> None:
    told = json.loads(run("q.jsonl", "--json"))
    (only,) = told["runs"]
    assert (only["chunking"], only["answerable"], only["unknown_files"]) == (None, 2, ["нет.md"])
    assert only["hits"] == {"1": 1.0, "3": 1.0, "10": 1.0}
    assert [outcome["rank"] for outcome in only["outcomes"]] == [1, 1]
    shown = run("q.jsonl", "--top-k", "3")
    assert "hit@1  hit@3    MRR" in shown
    assert "нет.md" in shown


def test_strategies_are_compared_beside_the_real_index(home) -> None:
    before = json_store.read_manifest(home / "embeddings")
    told = json.loads(run("q.jsonl", "--chunking", "headings", "--chunking", "recursive", "--json"))
    assert [one["chunking"] for one in told["runs"]] == ["headings", "recursive"]
    assert told["runs"][0]["chunks"] < told["runs"][1]["chunks"]
    assert json_store.read_manifest(home / "embeddings") == before
    kept = json_store.read_manifest(home / "embeddings/.eval/headings/embeddings")
    assert kept.chunker["name"] == "headings"
    assert run("q.jsonl", "--chunking", "all").count("1.000") >= 8


def test_a_wrong_file_is_told(home) -> None:
    (home / "q.jsonl").write_text("{", "utf-8")
    with pytest.raises(QuestionsFileError):
        run("q.jsonl")
