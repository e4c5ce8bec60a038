"""Files of questions: what is read, and how a bad line is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import QuestionsFileError
from pipeline.evaluation.questions import KnownQuestion, read_questions


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
    assert first == KnownQuestion(1, "Сколько дней отпуск?", ("отпуск.md",), ("28",))
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
    ]
    with pytest.raises(QuestionsFileError) as caught:
        read_questions(written(tmp_path, "\n".join(lines)))
    said = caught.value.message("en").splitlines()
    assert [line.split(":")[0].strip() for line in said[1:]] == ["2", "3", "4", "5", "6", "7", "8", "9"]
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
    question = KnownQuestion(1, "?", ("base.sqlite", "docs"))
    assert question.is_in("base.sqlite/articles/1")
    assert question.is_in("docs/a.md")
    assert not question.is_in("docs2/a.md")
    assert KnownQuestion(1, "?", ("docs\\a.md", "folder/")).is_in("docs/a.md")
    assert KnownQuestion(1, "?", ("docs\\a.md", "folder/")).is_in("folder/b.md")
