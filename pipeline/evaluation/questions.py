"""Questions with what is known of their answers, from a file.

JSON lines, one object each; a table (`.csv`) with the same names as its heading; or what people thought of
answers (``feedback.jsonl`` and its export)::

    {"question": "Сколько дней отпуск?", "files": ["отпуск.md"], "answer_any": ["28 дней"]}
    {"question": "Сколько стоит отпуск?", "files": [], "kind": "unanswerable_near"}

``files`` are the files that hold an answer, none where the knowledge base has no answer. The rest may be
missing: ``passages`` (words of the right passages, or ids of chunks), ``answer_any`` (texts of which one
shows a right answer), ``kind`` (one that says ``near`` or ``far`` tells how far from the knowledge base an
unanswerable question is), ``id``. Other keys are left alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline.errors import OtvetError, QuestionsFileError
from pipeline.evaluation.question_tables import NoHeadingError, read_table
from pipeline.library.feedback import FeedbackFile
from pipeline.messages import Phrase
from pipeline.text.encodings import NotTextError, decode
from pipeline.types import AskRequest
from pipeline.understand import understand

__all__ = ["KnownQuestion", "Reach", "is_named", "read_questions"]

Reach = Literal["answerable", "near", "far", "unanswerable"]
"""Whether the knowledge base has the answer; if not, how far from its subject the question is, or that
nobody said."""

Line = tuple[int, Mapping[str, object] | Phrase]
"""Its number, and the object that stands there or why there is none."""


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question and what is known of its answer.

    Attributes:
        line: Where it stands in its file, from 1.
        files: Files that hold an answer; a folder or a database stands for all in it.
        answers: Texts of which one shows a right answer; none where that is not known.
        passages: Words of the passages that hold it, or ids of chunks; none where that is not known.
        kind: What sort of question its author calls it.
    """

    line: int
    text: str
    files: tuple[str, ...]
    answers: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    kind: str = ""
    id: str = ""

    @property
    def is_answerable(self) -> bool:
        """False where the knowledge base is known to hold no answer."""
        return bool(self.files or self.passages)

    @property
    def reach(self) -> Reach:
        """Whether there is an answer, and how far away the question is if not."""
        if self.is_answerable:
            return "answerable"
        if "near" in self.kind:
            return "near"
        return "far" if "far" in self.kind else "unanswerable"


def is_named(file: str, name: str) -> bool:
    """True if ``name`` stands for this file: itself, a folder or database above it, also with backslashes."""
    names = {name, name.replace("\\", "/")}
    return any(file == one or file.startswith(f"{one.rstrip('/')}/") for one in names)


def read_questions(path: Path) -> list[KnownQuestion]:
    """The questions of a file; empty lines count for nothing.

    Raises:
        QuestionsFileError: The file or some of its lines cannot be used; all of them are named.
    """
    questions: list[KnownQuestion] = []
    wrong: list[tuple[int, Phrase]] = []
    for number, found in _lines(path):
        try:
            questions.append(_question(number, found))
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


def _lines(path: Path) -> list[Line]:
    try:
        text = decode(path.read_bytes()).text
    except OSError as error:
        detail = {"detail": error.strerror or "?"}
        raise _unusable(path, [(0, Phrase("questions_unopened", detail))]) from error
    except NotTextError as error:
        raise _unusable(path, [(0, Phrase("skip_not_text"))]) from error
    if path.suffix.lower() in (".csv", ".tsv"):
        try:
            return list(read_table(text))
        except NoHeadingError as error:
            raise _unusable(path, [(1, Phrase("questions_heading", {"names": error.names}))]) from error
    lines = list(_json_lines(text))
    if any(isinstance(line, Mapping) and "verdict" in line for _, line in lines):
        # Opinions as they are kept: the last one on each question counts, and only some say where to look.
        return list(enumerate(FeedbackFile(path).known_questions(), start=1))
    return lines


def _json_lines(text: str) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            # Half a character (``"\\ud800"``) can stand in JSON, but in no request and no report.
            json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            yield number, Phrase("questions_json", {"detail": str(error)})
            continue
        yield number, record if isinstance(record, dict) else Phrase("questions_object")


def _question(number: int, record: Mapping[str, object] | Phrase) -> KnownQuestion:
    if isinstance(record, Phrase):
        raise _WrongLineError(record)
    text = record.get("question")
    if not isinstance(text, str):
        raise _WrongLineError(Phrase("questions_field", {"name": "question"}))
    try:
        understand(AskRequest(question=text))
    except OtvetError as error:
        raise _WrongLineError(Phrase("questions_question", {"code": error.code})) from error
    passages = _texts(record, "passages", ())
    return KnownQuestion(
        number,
        text,
        # Where the passages are told, the files need not be.
        files=_texts(record, "files", () if passages else None),
        answers=_texts(record, "answer_any", ()),
        passages=passages,
        kind=_word(record, "kind"),
        id=_word(record, "id"),
    )


def _texts(record: Mapping[str, object], name: str, missing: object = None) -> tuple[str, ...]:
    value = record.get(name, missing)
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item for item in value):
        raise _WrongLineError(Phrase("questions_list", {"name": name}))
    return tuple(value)


def _word(record: Mapping[str, object], name: str) -> str:
    value = record.get(name)
    return "" if value is None else str(value)
