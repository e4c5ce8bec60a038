"""Files of questions with what is known of their answers, one JSON object a line.

::

    {"question": "Сколько дней отпуск?", "files": ["отпуск.md"], "answer_any": ["28 дней"]}
    {"question": "Как варить борщ?", "files": []}

``files`` are the files that hold an answer, none where the knowledge base has no answer. ``answer_any``
may be missing: texts of which one shows a right answer. Other keys are left alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import OtvetError, QuestionsFileError
from pipeline.messages import Phrase
from pipeline.text.encodings import NotTextError, decode
from pipeline.types import AskRequest
from pipeline.understand import understand

__all__ = ["KnownQuestion", "is_named", "read_questions"]


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question and what is known of its answer.

    Attributes:
        line: Where it stands in its file, from 1.
        files: Files that hold an answer; a folder or a database stands for all in it.
        answers: Texts of which one shows a right answer; none where that is not known.
    """

    line: int
    text: str
    files: tuple[str, ...]
    answers: tuple[str, ...] = ()

    @property
    def is_answerable(self) -> bool:
        """False where the knowledge base is known to hold no answer."""
        return bool(self.files)

    def is_in(self, file: str) -> bool:
        """True if this file holds an answer."""
        return any(is_named(file, known) for known in self.files)


def is_named(file: str, name: str) -> bool:
    """True if ``name`` stands for this file: itself, a folder or database above it, also with backslashes."""
    names = {name, name.replace("\\", "/")}
    return any(file == one or file.startswith(f"{one.rstrip('/')}/") for one in names)


def read_questions(path: Path) -> list[KnownQuestion]:
    """The questions of a file; empty lines count for nothing.

    Raises:
        QuestionsFileError: The file or some of its lines cannot be used; all of them are named.
    """
    try:
        text = decode(path.read_bytes()).text
    except OSError as error:
        raise _unusable(
            path, [(0, Phrase("questions_unopened", {"detail": error.strerror or "?"}))]
        ) from error
    except NotTextError as error:
        raise _unusable(path, [(0, Phrase("skip_not_text"))]) from error
    questions: list[KnownQuestion] = []
    wrong: list[tuple[int, Phrase]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            questions.append(_question(number, line))
        except _WrongLineError as error:
            wrong.append((number, error.why))
    if not questions and not wrong:
        wrong.append((0, Phrase("questions_none")))
    if wrong:
        raise _unusable(path, wrong)
    return questions


class _WrongLineError(Exception):
    def __init__(self, why: Phrase) -> None:
        super().__init__(why.key)
        self.why = why


def _unusable(path: Path, lines: Sequence[tuple[int, Phrase]]) -> QuestionsFileError:
    return QuestionsFileError(path=path, lines=lines)


def _question(number: int, line: str) -> KnownQuestion:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _WrongLineError(Phrase("questions_json", {"detail": str(error)})) from error
    if not isinstance(record, dict):
        raise _WrongLineError(Phrase("questions_object"))
    text = record.get("question")
    if not isinstance(text, str):
        raise _WrongLineError(Phrase("questions_field", {"name": "question"}))
    try:
        understand(AskRequest(question=text))
    except OtvetError as error:
        raise _WrongLineError(Phrase("questions_question", {"code": error.code})) from error
    return KnownQuestion(number, text, _texts(record, "files"), _texts(record, "answer_any", ()))


def _texts(record: dict[str, Any], name: str, missing: object = None) -> tuple[str, ...]:
    value = record.get(name, missing)
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item for item in value):
        raise _WrongLineError(Phrase("questions_list", {"name": name}))
    return tuple(value)
