"""Files of questions: what is read, and how a bad line is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.errors import QuestionsFileError
from pipeline.evaluation.questions import KnownQuestion, is_named, read_questions
from pipeline.library.feedback import Feedback, FeedbackFile


def written(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "questions.jsonl"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1251"])
def test_questions_are_read_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    lines = (
        '{"question": "Сколько дней отпуск?", "files": ["отпуск.md"], "answer_any": ["28"], "id": 5}\r\n\r\n'
        '{"question": "Как варить борщ?", "files": []}\n'
    )
    first, second = read_questions(written(tmp_path, lines, encoding))
    assert first == KnownQuestion(1, "Сколько дней отпуск?", ("отпуск.md",), ("28",), id="5")
    assert (second.line, second.is_answerable, second.answers) == (3, False, ())


def test_every_bad_line_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    lines = [
        '{"question": "Да?", "files": []}',
        "{oops",
        "[]",
        '{"files": []}',
        '{"question": "Да?"}',
        '{"question": "Да?", "files": "a.md"}',
        '{"question": "-s", "files": []}',
        '{"question": "Да?", "files": [], "answer_any": [5]}',
        "[" * 5000,
        '{"question": "\\ud800", "files": []}',
    ]
    with pytest.raises(QuestionsFileError) as caught:
        read_questions(written(tmp_path, "\n".join(lines)))
    said = caught.value.message("en").splitlines()
    assert [line.split(":")[0].strip() for line in said[1:]] == ["2", "3", "4", "5", "6", "7", "8", "9", "10"]
    assert "'question'" in said[3] or "question" in said[3]
    assert "answer_any" in said[7]
    assert "Файл вопросов" in caught.value.message("ru")
    assert '{"question"' in caught.value.hint("ru")


@pytest.mark.parametrize(
    "content", [b"", b"\n \n", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\x06\0\0\0" * 4]
)
def test_a_file_without_questions_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_bytes(content)
    with pytest.raises(QuestionsFileError):
        read_questions(path)
    with pytest.raises(QuestionsFileError):
        read_questions(tmp_path / "missing.jsonl")


def test_a_folder_or_database_stands_for_all_in_it() -> None:
    assert is_named("base.sqlite/articles/1", "base.sqlite")
    assert is_named("docs/a.md", "docs")
    assert not is_named("docs2/a.md", "docs")
    assert is_named("docs/a.md", "docs\\a.md")
    assert is_named("folder/b.md", "folder/")


def test_how_far_a_question_is_from_the_base_is_told_by_its_kind(tmp_path: Path) -> None:
    kinds = ["unanswerable_near", "far", "", "howto"]
    lines = [f'{{"question": "Да?", "files": [], "kind": "{kind}"}}' for kind in kinds]
    found = read_questions(written(tmp_path, "\n".join(lines)))
    assert [one.reach for one in found] == ["near", "far", "unanswerable", "unanswerable"]


def test_passages_may_stand_instead_of_files(tmp_path: Path) -> None:
    (only,) = read_questions(written(tmp_path, '{"question": "Да?", "passages": ["28 дней"]}'))
    assert (only.files, only.passages, only.reach) == ((), ("28 дней",), "answerable")


def table(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "questions.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1251"])
@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
def test_a_table_as_a_spreadsheet_program_saves_it(tmp_path: Path, delimiter: str, encoding: str) -> None:
    rows = [
        ["Вопрос", "Файлы", "Ответы", "Вид", "Примечание"],
        ["Сколько дней отпуск?", "отпуск.md | кадры", "28 дней|месяц", "lookup", "от Анны"],
        ["", "", "", "", ""],
        ['"Как варить\nборщ; щи, уху?"', "", "", "unanswerable_far", ""],
    ]
    text = "\r\n".join(delimiter.join(row) for row in rows) + "\r\n"
    first, second = read_questions(table(tmp_path, text, encoding))
    assert first == KnownQuestion(
        2, "Сколько дней отпуск?", ("отпуск.md", "кадры"), ("28 дней", "месяц"), kind="lookup"
    )
    assert (second.line, second.text, second.reach) == (4, "Как варить\nборщ; щи, уху?", "far")


def test_every_bad_row_of_a_table_is_named(tmp_path: Path) -> None:
    rows = ["question,files", "Да?,a.md,лишнее", ",a.md", "-s,a.md", "Да?,a.md"]
    with pytest.raises(QuestionsFileError) as caught:
        read_questions(table(tmp_path, "\n".join(rows)))
    said = caught.value.message("ru").splitlines()
    assert [line.split(":")[0].strip() for line in said[1:]] == ["2", "3", "4"]
    with pytest.raises(QuestionsFileError) as caught:
        read_questions(table(tmp_path, 'question,files\n"Да?,a.md\n'))
    assert "2" in caught.value.message("en").splitlines()[1]


@pytest.mark.parametrize("heading", ["вопрос;ответ", "files;answers", '"', "?"])
def test_a_table_without_the_right_heading_is_told_what_is_missing(tmp_path: Path, heading: str) -> None:
    with pytest.raises(QuestionsFileError) as caught:
        read_questions(table(tmp_path, f"{heading}\nДа?;нет\n"))
    assert "question" in caught.value.message("ru")


def test_opinions_as_they_are_kept_and_as_they_are_exported(tmp_path: Path) -> None:
    kept = FeedbackFile(tmp_path / "feedback.jsonl")
    kept.add(Feedback("Сколько дней отпуск?", "good", files=("a.md",), outcome="answered"))
    kept.add(Feedback("Где принтер?", "bad", right_file="b.md"))
    kept.add(Feedback("Кто виноват?", "bad"))
    kept.add(Feedback("Как варить борщ?", "good", outcome="not_found"))
    opinions = read_questions(tmp_path / "feedback.jsonl")
    lines = "\n".join(json.dumps(line, ensure_ascii=False) for line in kept.known_questions())
    exported = read_questions(written(tmp_path, lines))
    assert opinions == exported
    assert [(one.text, one.files) for one in opinions] == [
        ("Сколько дней отпуск?", ("a.md",)),
        ("Где принтер?", ("b.md",)),
        ("Как варить борщ?", ()),
    ]
