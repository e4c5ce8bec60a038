"""Runs on disk: resumed, named, found again, never mixed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.errors import RunMissingError, RunTakenError
from pipeline.evaluation.asking import Asking
from pipeline.evaluation.evaluate import evaluate
from pipeline.evaluation.questions import KnownQuestion
from pipeline.evaluation.records import Record, key_of
from pipeline.evaluation.runs import Plan, Run, find_run, open_run, runs_in

QUESTIONS = [KnownQuestion(n, f"вопрос {n}", ("a.md",)) for n in range(1, 5)]
PLAN = Plan("q.jsonl", tuple(map(key_of, QUESTIONS)), "v1", {"search": {"rerank": 20}}, 10, answers=False)


class Counting(Asking):
    """Makes records, and stops at a certain question as Ctrl-C would."""

    def __init__(self, stop: int = 0) -> None:
        object.__setattr__(self, "asked", [])
        object.__setattr__(self, "stop", stop)

    __slots__ = ("asked", "stop")

    def ask(self, question: KnownQuestion) -> Record:
        if question.line == self.stop:
            raise KeyboardInterrupt
        self.asked.append(question.line)
        return Record(key_of(question), question, ("a.md",), (0,), "sources", "да", "extractive")


def test_a_run_that_was_interrupted_goes_on_where_it_was(tmp_path: Path):
    run, first, steps = open_run(tmp_path, PLAN), Counting(stop=3), []
    with pytest.raises(KeyboardInterrupt):
        evaluate(run, QUESTIONS, first, lambda *step: steps.append(step))
    assert (first.asked, steps) == ([1, 2], [(0, 4), (1, 4), (2, 4)])
    again, second = open_run(tmp_path, PLAN), Counting()
    assert again.name == run.name
    evaluate(again, QUESTIONS, second)
    assert second.asked == [3, 4]
    assert [record.question for record in again.records()] == QUESTIONS
    assert again.finished


def test_a_line_that_a_crash_cut_short_is_asked_again(tmp_path: Path):
    run, asking = open_run(tmp_path, PLAN), Counting()
    evaluate(run, QUESTIONS[:2], asking)
    file = run.folder / "records.jsonl"
    file.write_bytes(file.read_bytes()[:-30])
    assert [record.question.line for record in run.records()] == [1]
    evaluate(run, QUESTIONS, asking)
    assert asking.asked == [1, 2, 2, 3, 4]
    assert len(run.records()) == 4


def test_nothing_is_asked_where_all_is_done(tmp_path: Path):
    run, again = open_run(tmp_path, PLAN), Counting()
    evaluate(run, QUESTIONS, Counting())
    evaluate(run, QUESTIONS, again)
    assert again.asked == []


def test_a_question_that_stands_twice_is_asked_once(tmp_path: Path):
    run, asking = open_run(tmp_path, PLAN), Counting()
    evaluate(run, [*QUESTIONS, replace(QUESTIONS[0], line=9)], asking)
    assert len(asking.asked) == 4


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAN, kb_version="v2"),
        replace(PLAN, settings={"search": {"rerank": 10}}),
        replace(PLAN, top_k=5),
        replace(PLAN, answers=True),
        replace(PLAN, keys=PLAN.keys[:2]),
        replace(PLAN, questions="other.jsonl"),
    ],
)
def test_another_plan_is_another_run(tmp_path: Path, other: Plan):
    assert open_run(tmp_path, PLAN).name != open_run(tmp_path, other).name


def test_finished_and_fresh_runs_are_not_taken_over(tmp_path: Path):
    run = open_run(tmp_path, PLAN)
    assert open_run(tmp_path, PLAN, fresh=True).name != run.name
    for one in runs_in(tmp_path):
        one.finish()
    assert open_run(tmp_path, PLAN).name not in {one.name for one in runs_in(tmp_path) if one.finished}


def test_a_named_run_is_resumed_grows_and_is_never_overwritten(tmp_path: Path):
    first = open_run(tmp_path, replace(PLAN, keys=PLAN.keys[:2]), "main")
    evaluate(first, QUESTIONS[:2], Counting())
    grown = open_run(tmp_path, PLAN, "main")
    assert len(grown.records()) == 2
    evaluate(grown, QUESTIONS, Counting())
    for plan, fresh in ((PLAN, False), (replace(PLAN, top_k=3), False), (replace(PLAN, keys=()), True)):
        with pytest.raises(RunTakenError):
            open_run(tmp_path, plan, "main", fresh=fresh)


def test_a_damaged_run_is_not_gone_on_with(tmp_path: Path):
    run = open_run(tmp_path, PLAN, "main")
    (run.folder / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(RunTakenError):
        open_run(tmp_path, PLAN, "main")
    with pytest.raises(RunMissingError):
        find_run(tmp_path, str(run.folder))
    assert runs_in(tmp_path) == []


@pytest.mark.parametrize("name", ["last", "../out", "a/b", "", ".hidden", "x" * 200, "con:"])
def test_names_are_names_of_folders(tmp_path: Path, name: str):
    if not name:
        assert open_run(tmp_path, PLAN, name).name
        return
    with pytest.raises(RunTakenError):
        open_run(tmp_path, PLAN, name)
    assert not list(tmp_path.iterdir())


def test_runs_are_found_by_name_by_last_and_by_folder(tmp_path: Path):
    old, new = open_run(tmp_path / "r", PLAN, "old"), open_run(tmp_path / "r", PLAN, "new")
    new.finish()
    old.finish()
    assert [run.name for run in runs_in(tmp_path / "r")] == ["old", "new"]
    assert find_run(tmp_path / "r", "new").name == "new"
    assert find_run(tmp_path / "r", "last").name == "old"  # the one that was finished last
    assert find_run(tmp_path / "r", "last", before=old).name == "new"
    assert find_run(tmp_path / "elsewhere", str(old.folder)).name == "old"
    with pytest.raises(RunMissingError) as caught:
        find_run(tmp_path / "r", "none")
    assert "old" in caught.value.message("ru")
    with pytest.raises(RunMissingError):
        find_run(tmp_path / "empty", "last")


def test_what_is_no_run_is_passed_over(tmp_path: Path):
    run = open_run(tmp_path, PLAN)
    (tmp_path / "stray").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{", "utf-8")
    (run.folder / "records.jsonl").write_text('{"key": 1}\nno\n[]\n', "utf-8")
    assert [one.name for one in runs_in(tmp_path)] == [run.name]
    assert Run(run.folder).records() == []
