"""What people thought of answers: one line of JSON each, kept beside the knowledge base and nowhere else.

Out of it comes a file of known questions, so that a change of models or settings can be held against what
people have found right.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Literal

from pipeline.errors import NotWrittenError

__all__ = ["FEEDBACK", "Feedback", "FeedbackFile", "Verdict"]

FEEDBACK = "feedback.jsonl"
"""File in the home folder."""

LARGEST = 8 << 20
"""Bytes of the file; then it becomes ``feedback.old.jsonl``, in place of the one before."""

Verdict = Literal["good", "bad"]


@dataclass(frozen=True, slots=True)
class Feedback:
    """One opinion.

    Attributes:
        question: As it was asked, flags included.
        outcome: Of the reply.
        files: Files of the sources that the answer names.
        right_file: Where the answer is, by somebody who knows better.
    """

    question: str
    verdict: Verdict
    comment: str = ""
    answer: str = ""
    outcome: str = ""
    files: tuple[str, ...] = ()
    right_file: str = ""
    kb_version: str = ""
    model: str = ""


class FeedbackFile:
    """Opinions in a file. Thread-safe; several processes may add to it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()

    def add(self, opinion: Feedback) -> None:
        """Keep an opinion.

        Raises:
            NotWrittenError: The disk is full or closed to writing.
        """
        line = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **asdict(opinion)}
        data = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._lock:
            try:
                self._make_room()
                self._append(data)
            except OSError as error:
                raise NotWrittenError(
                    path=error.filename or self._path, reason=error.strerror or str(error)
                ) from error

    def known_questions(self) -> Iterator[dict[str, object]]:
        """Lines for ``otvet eval``: the last opinion on each question, if it says where the answer is.

        A good answer says it by its sources, a bad one only where somebody named the file. A question that
        was rightly refused has no file: that is what such a line means there too.
        """
        last: dict[str, Mapping[str, object]] = {}
        for line in self._lines():
            # Forgotten first, so that the file is in the order of the opinions that count.
            question = str(line.get("question", "")).strip()
            last.pop(question, None)
            last[question] = line
        for number, (question, line) in enumerate(last.items(), start=1):
            files = _right_files(line)
            if question and files is not None:
                yield {"id": f"feedback-{number:04}", "question": question, "files": files}

    def _make_room(self) -> None:
        if self._path.exists() and self._path.stat().st_size > LARGEST:
            self._path.replace(self._path.with_name(f"{self._path.stem}.old{self._path.suffix}"))

    def _append(self, data: bytes) -> None:
        # One unbuffered write at the end of the file: lines of two processes never mix.
        with self._path.open("a+b", buffering=0) as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                # A line that a full disk has cut short must not swallow this one.
                data = data if file.read(1) == b"\n" else b"\n" + data
            file.write(data)

    def _lines(self) -> Iterator[Mapping[str, object]]:
        for path in (self._path.with_name(f"{self._path.stem}.old{self._path.suffix}"), self._path):
            if not path.is_file():
                continue
            for raw in path.read_bytes().splitlines():
                try:
                    line = json.loads(raw)
                except ValueError:
                    continue  # cut short by a full disk
                if isinstance(line, dict):
                    yield line


def _right_files(line: Mapping[str, object]) -> list[str] | None:
    if right := str(line.get("right_file", "")).strip():
        return [right]
    if line.get("verdict") != "good":
        return None
    if line.get("outcome") == "not_found":
        return []
    files = line.get("files")
    return [str(file) for file in files] or None if isinstance(files, list) else None
