"""``otvet eval`` over a real index with an embedder that is no model."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from openai_stand_in import stand_in
from word_embedder import WordEmbedder

from pipeline import bootstrap
from pipeline.cli.console import exit_code
from pipeline.cli.eval import eval as command
from pipeline.errors import (
    InvalidRequestError,
    QualityError,
    QuestionsFileError,
    RemoteUnreachableError,
    RunMissingError,
)
from pipeline.evaluation import bootstrap as figures
from pipeline.evaluation.asking import Asking
from pipeline.indexing import EmbedderSource
from pipeline.stores import json_store

QUESTIONS = (
    '{"question": "Сколько дней длится отпуск?", "files": ["отпуск.md"], "answer_any": ["28 дней"]}\n'
    '{"question": "Где стоит принтер?", "files": ["принтер.md", "нет.md"]}\n'
)


@pytest.fixture(autouse=True)
def few_permutations(monkeypatch):
    """The tests of the figures themselves have as many as the product."""
    monkeypatch.setattr(figures, "PERMUTATIONS", 500)
    monkeypatch.setattr(figures, "RESAMPLES", 200)


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


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == code
    return result.stdout


def test_the_index_as_it_is(home) -> None:
    told = json.loads(run("q.jsonl", "--json"))
    (only,) = told["runs"]
    assert (told["questions"], only["chunking"], only["unknown_files"]) == (2, None, ["нет.md"])
    found = {name: figure["value"] for name, figure in only["figures"].items()}
    assert (found["hit@1"], found["recall@3"], found["mrr"]) == (1.0, 0.75, 1.0)
    assert only["figures"]["shown"]["questions"] == 1
    assert [outcome["rank"] for outcome in only["outcomes"]] == [1, 1]
    assert set(only["stages_ms"]["total"]) == {"p50", "p95", "p99"}
    shown = run("q.jsonl", "--top-k", "3")
    assert "nDCG@3" in shown
    assert "нет.md" in shown


def test_reports_are_kept_and_written_where_they_are_wanted(home) -> None:
    told = json.loads(
        run("q.jsonl", "--json", "--name", "main", "--report", "out.html", "--report", "out.md")
    )
    folder = home / "embeddings/.eval/runs/main"
    assert told["runs"][0]["folder"] == str(folder)
    assert (home / "out.html").read_text("utf-8") == (folder / "report.html").read_text("utf-8")
    assert (home / "out.md").read_text("utf-8") == (folder / "report.md").read_text("utf-8")
    assert "main" in run("runs")
    assert json.loads(run("runs", "--json"))[0]["count"] == 2


def test_a_baseline_is_compared_with(home) -> None:
    run("q.jsonl", "--name", "before")
    told = json.loads(run("q.jsonl", "--json", "--baseline", "last"))
    (only,) = told["runs"]
    assert only["baseline"] == "before"
    judged = {one["measure"]: one["judgement"] for one in only["compared"] if one["counts"]}
    assert judged["hit@1"] == "same"
    assert "before" in run("q.jsonl", "--baseline", "before")
    with pytest.raises(RunMissingError):
        run("q.jsonl", "--baseline", "none")


def test_a_run_is_told_again_and_compared_without_asking(home, monkeypatch) -> None:
    run("q.jsonl", "--name", "one")
    run("q.jsonl", "--name", "two", "--top-k", "5")
    monkeypatch.setattr(bootstrap, "create_service", lambda settings: pytest.fail("asked again"))
    told = json.loads(run("report", "two", "--baseline", "one", "--report", "out.md", "--json"))
    assert (told["run"], told["baseline"]) == ("two", "one")
    assert "one" in (home / "out.md").read_text("utf-8")
    assert "nDCG@5" in run("report", "last")


def test_an_unknown_way_to_search_is_refused_before_a_run_begins(home) -> None:
    with pytest.raises(InvalidRequestError):
        run("q.jsonl", "--strategy", "telepathy")
    assert json.loads(run("runs", "--json")) == []


def test_bars_decide_the_exit_code(home) -> None:
    run("q.jsonl", "--fail-under", "hit@3=0.9", "--fail-over", "refused_wrongly=0.5")
    with pytest.raises(QualityError) as caught:
        run("q.jsonl", "--fail-under", "HIT@1=1.1", "--fail-under", "recall@3=0.5")
    assert exit_code(caught.value) == 8
    assert caught.value.message("ru").splitlines()[1:] == ["  hit@1: 1.000 ниже 1.1"]
    assert len(json.loads(run("runs", "--json"))) == 2  # what fails is kept all the same
    for wrong in ("hit@3=nan", "hit@3=inf", "hit@3", "hit@3=much", "hit@77=0.5", "=1"):
        assert "hit@" in run_wrong("q.jsonl", "--fail-under", wrong)
    # Before anything is asked; what no question tells is only known afterwards.
    assert len(json.loads(run("runs", "--json"))) == 2
    assert "faithfulness" in run_wrong("q.jsonl", "--fail-under", "faithfulness=0.5")


def run_wrong(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 2
    return result.stderr


def test_a_judge_needs_its_model_and_the_other_way_round(home) -> None:
    assert "--judge-model" in run_wrong("q.jsonl", "--judge", "http://127.0.0.1:1/v1")
    assert "--judge-model" in run_wrong("q.jsonl", "--judge-model", "big")


def test_the_judge_is_a_server_of_the_users_choice_and_stands_apart(home, monkeypatch) -> None:
    monkeypatch.setenv("OTVET_JUDGE_KEY", "secret-key")
    grades = '{"faithful": 1, "relevant": 0.5, "correct": 1}'
    with stand_in(reply=lambda messages: grades) as server:
        arguments = [
            "q.jsonl",
            "--answers",
            "--judge",
            server.url,
            "--judge-model",
            "big",
            "--name",
            "judged",
        ]
        (only,) = json.loads(run(*arguments, "--json"))["runs"]
    assert [path for path, _ in server.requests] == ["/v1/chat/completions"] * 2
    assert server.keys == ["Bearer secret-key"] * 2
    assert only["figures"]["judge_relevant"]["value"] == 0.5
    assert only["figures"]["judge_correct"]["questions"] == 1  # only one question has known answers
    folder = home / "embeddings/.eval/runs/judged"
    report = (folder / "report.md").read_text("utf-8")
    assert report.index("судья: по делу") > report.index("Время по этапам")
    assert not [path for path in folder.iterdir() if "secret-key" in path.read_text("utf-8")]


def test_a_judge_that_is_not_there_costs_nothing_that_is_done(home) -> None:
    with pytest.raises(RemoteUnreachableError):
        run("q.jsonl", "--judge", "http://127.0.0.1:9/v1", "--judge-model", "big")
    assert json.loads(run("runs", "--json"))[0]["finished"] is None


def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(home, monkeypatch) -> None:
    asked: list[str] = []
    real = Asking.ask

    def ask(self, question):
        if len(asked) == 1:
            raise KeyboardInterrupt
        asked.append(question.text)
        return real(self, question)

    monkeypatch.setattr(Asking, "ask", ask)
    result = CliRunner().invoke(command, ["q.jsonl"])
    assert (result.exit_code, "1 из 2" in result.stderr) == (1, True)
    monkeypatch.setattr(Asking, "ask", real)
    (only,) = json.loads(run("q.jsonl", "--json"))["runs"]
    assert len(only["outcomes"]) == 2
    assert len(json.loads(run("runs", "--json"))) == 1


def test_cuttings_are_compared_beside_the_real_index(home) -> None:
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
