"""Opinions: kept line by line, and made into questions that ``otvet eval`` can read."""

from __future__ import annotations

import json
import threading

import pytest

from pipeline.errors import NotWrittenError
from pipeline.evaluation.questions import read_questions
from pipeline.library import feedback
from pipeline.library.feedback import Feedback, FeedbackFile


@pytest.fixture
def path(tmp_path):
    return tmp_path / "feedback.jsonl"


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_an_opinion_is_one_line_with_its_time(path):
    FeedbackFile(path).add(Feedback("Сколько дней?\n-s", "good", "точно\nда", files=("a.md",)))
    (line,) = lines(path)
    assert (line["question"], line["verdict"], line["comment"]) == ("Сколько дней?\n-s", "good", "точно\nда")
    assert line["at"].endswith("Z")


def test_the_last_opinion_counts_and_says_where_the_answer_is(path):
    kept = FeedbackFile(path)
    kept.add(Feedback("первый", "good", files=("a.md", "b.md")))
    kept.add(Feedback("второй", "bad", files=("a.md",)))
    kept.add(Feedback("третий", "bad", files=("a.md",), right_file="c.md"))
    kept.add(Feedback("борщ", "good", outcome="not_found", files=("a.md",)))
    kept.add(Feedback("первый", "good", files=("d.md",)))
    kept.add(Feedback("без источников", "good"))
    found = [(line["question"], line["files"]) for line in kept.known_questions()]
    assert found == [("третий", ["c.md"]), ("борщ", []), ("первый", ["d.md"])]


def test_the_export_is_read_by_eval(path, tmp_path):
    kept = FeedbackFile(path)
    kept.add(Feedback("Сколько дней отпуск? -s", "good", files=("кадры/отпуск.md",)))
    export = tmp_path / "questions.jsonl"
    export.write_text("\n".join(json.dumps(line) for line in kept.known_questions()), encoding="utf-8")
    (question,) = read_questions(export)
    assert question.files == ("кадры/отпуск.md",)


def test_many_at_once_never_mix(path):
    kept = FeedbackFile(path)
    writers = [
        threading.Thread(target=lambda n=n: [kept.add(Feedback(f"{n} {i}", "bad")) for i in range(20)])
        for n in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len({line["question"] for line in lines(path)}) == 80


def test_a_line_cut_short_costs_only_itself(path):
    path.write_bytes(b'{"question": "a", "verdict": "good", "files": ["a.md"]}\n{"question": "b", "ver')
    kept = FeedbackFile(path)
    kept.add(Feedback("c", "good", files=("c.md",)))
    assert [line["question"] for line in kept.known_questions()] == ["a", "c"]


def test_the_file_is_bounded_and_the_one_before_is_still_exported(path, monkeypatch):
    monkeypatch.setattr(feedback, "LARGEST", 300)
    kept = FeedbackFile(path)
    for number in range(4):
        kept.add(Feedback(str(number), "good", files=("a.md",)))
    assert path.stat().st_size < 600
    assert path.with_name("feedback.old.jsonl").is_file()
    assert [line["question"] for line in kept.known_questions()][-1] == "3"


def test_a_place_that_cannot_be_written_to_is_told(tmp_path):
    with pytest.raises(NotWrittenError):
        FeedbackFile(tmp_path / "missing" / "feedback.jsonl").add(Feedback("a", "good"))
