"""Drafts of known questions: proposed by the program, accepted or dropped by a person.

``questions.drafts.jsonl`` holds the drafts and what was dropped, so that it is not proposed again;
``questions.jsonl`` holds what was accepted, one line a question, as ``otvet eval`` reads it. Both lie beside
the knowledge base, and both may be edited by hand: lines that are no drafts are left as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, Literal, get_args

from filelock import FileLock

from pipeline.durable import put_in_place
from pipeline.errors import DraftUnknownError, NotWrittenError

__all__ = ["DRAFTS", "QUESTIONS", "Draft", "DraftBook", "MadeBy"]

DRAFTS = "questions.drafts.jsonl"
QUESTIONS = "questions.jsonl"
"""Files in the home folder."""

_RAW = "\0raw"  # a line that is no object of JSON, kept as it is

MadeBy = Literal["heading", "sentence", "model", "foreign"]
"""What made a draft: a heading, a sentence, the language model; ``foreign``: it is about other things."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A question that nobody has looked at yet.

    Attributes:
        id: Stands for it here and in ``questions.jsonl``.
        files: Files that hold the answer; none where the knowledge base should have none.
        answer_any: Texts of which one shows a right answer.
        passages: Words of the passage that holds the answer.
        kind: What sort of question it is, as ``otvet eval`` knows them; may be empty.
        chunk_id: The passage it was made of; empty: of none.
        dropped: Somebody did not want it.
    """

    id: str
    question: str
    made: MadeBy
    files: tuple[str, ...] = ()
    answer_any: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    kind: str = ""
    chunk_id: str = ""
    dropped: bool = False


class DraftBook:
    """The two files. Thread-safe; several processes may use them.

    Args:
        home: The folder of both.
    """

    def __init__(self, home: Path) -> None:
        self._drafts = home / DRAFTS
        self._questions = home / QUESTIONS
        self._lock = Lock()
        self._between = FileLock(home / f".{DRAFTS}.lock")

    @property
    def questions(self) -> Path:
        """Where accepted questions are."""
        return self._questions

    def all(self) -> list[Draft]:
        """Drafts and what was dropped, in the order they were made."""
        return [draft for draft in map(_draft, _lines(self._drafts)) if draft is not None]

    def accepted(self) -> list[dict[str, Any]]:
        """The questions that ``otvet eval`` would ask."""
        return [line for line in _lines(self._questions) if line.get("question")]

    def add(self, drafts: Sequence[Draft]) -> None:
        """Keep new drafts behind the others.

        Raises:
            NotWrittenError: The disk is full or closed to writing.
        """
        with self._writing():
            self._write(self._drafts, [*_lines(self._drafts), *map(_record, drafts)])

    def accept(
        self, draft_id: str, question: str | None = None, answer_any: Sequence[str] | None = None
    ) -> Draft:
        """Make it a known question, as it stands or as somebody has put it.

        Raises:
            DraftUnknownError: There is no such draft.
            NotWrittenError: The disk is full or closed to writing.
        """
        with self._writing():
            draft = self._find(draft_id)
            draft = replace(
                draft,
                question=draft.question if question is None else question,
                answer_any=draft.answer_any if answer_any is None else tuple(answer_any),
            )
            # The question first: what a crash leaves in both files can be accepted or dropped again.
            known = [line for line in _lines(self._questions) if line.get("id") != draft.id]
            self._write(self._questions, [*known, _known(draft)])
            self._write(self._drafts, self._without(draft_id))
        return draft

    def drop(self, draft_id: str) -> Draft:
        """Take it from the drafts; it can be brought back and is not proposed again. Raises as ``accept``."""
        return self._change(draft_id, lambda draft: replace(draft, dropped=True))

    def restore(self, draft_id: str) -> Draft:
        """A draft again, whether it was dropped or accepted. Raises as ``accept``."""
        with self._writing():
            known = list(_lines(self._questions))
            back = next((line for line in known if line.get("id") == draft_id), None)
            if back is None or (draft := _draft(back)) is None:
                return self._changed(draft_id, lambda draft: replace(draft, dropped=False))
            self._write(self._drafts, [*self._without(draft_id), _record(draft)])
            self._write(self._questions, [line for line in known if line is not back])
            return draft

    def _change(self, draft_id: str, change: Callable[[Draft], Draft]) -> Draft:
        with self._writing():
            return self._changed(draft_id, change)

    def _changed(self, draft_id: str, change: Callable[[Draft], Draft]) -> Draft:
        changed = change(self._find(draft_id))
        lines = [_record(changed) if line.get("id") == draft_id else line for line in _lines(self._drafts)]
        self._write(self._drafts, lines)
        return changed

    def _find(self, draft_id: str) -> Draft:
        for draft in self.all():
            if draft.id == draft_id:
                return draft
        raise DraftUnknownError(what=draft_id[:100])

    def _without(self, draft_id: str) -> list[dict[str, Any]]:
        return [line for line in _lines(self._drafts) if line.get("id") != draft_id]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self._lock, self._between:
                yield
        except OSError as error:
            where = error.filename or self._drafts
            raise NotWrittenError(path=where, reason=error.strerror or str(error)) from error

    def _write(self, path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
        text = "".join(line.get(_RAW) or json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        put_in_place(path, text.encode("utf-8", "replace"))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file; a line that is none is a person's own and is not shown, nor thrown away."""
    if not path.is_file():
        return
    for raw in path.read_text("utf-8-sig", "replace").splitlines():
        if raw.strip():
            try:
                line = json.loads(raw)
            except ValueError:
                line = None
            yield line if isinstance(line, dict) else {_RAW: f"{raw}\n"}


def _record(draft: Draft) -> dict[str, Any]:
    record = asdict(draft)
    for name, value in record.items():
        record[name] = list(value) if isinstance(value, tuple) else value
    return {"draft": True, **record}


def _known(draft: Draft) -> dict[str, Any]:
    record = _record(draft)
    for name in ("draft", "dropped"):
        del record[name]
    return {name: value for name, value in record.items() if value or name == "files"}


def _draft(line: Mapping[str, Any]) -> Draft | None:
    made = next((name for name in get_args(MadeBy) if name == line.get("made")), None)
    draft_id, question = line.get("id"), line.get("question")
    if made is None or not isinstance(draft_id, str) or not isinstance(question, str):
        return None
    return Draft(
        id=draft_id,
        question=question,
        made=made,
        files=_texts(line.get("files")),
        answer_any=_texts(line.get("answer_any")),
        passages=_texts(line.get("passages")),
        kind=str(line.get("kind") or ""),
        chunk_id=str(line.get("chunk_id") or ""),
        dropped=line.get("dropped") is True,
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()
