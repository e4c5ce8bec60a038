"""Runs of an evaluation, kept so that they can be resumed and compared.

Each is a folder in ``embeddings/.eval/runs``: ``run.json`` says what was asked of what, ``records.jsonl``
holds a line for each question that is done, written as soon as it is. What the answers depend on (the index,
the settings, what is known of a question) is part of what a run is found by, so that nothing is ever mixed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.durable import put_in_place
from pipeline.errors import RunMissingError, RunTakenError
from pipeline.evaluation.records import Record
from pipeline.json_lines import read_json_lines
from pipeline.settings import Settings

__all__ = ["LAST", "Plan", "Run", "find_run", "folder_of_runs", "open_run", "runs_in"]

LAST = "last"
"""Names the newest finished run."""

_NAME = re.compile(r"[^\W_][\w.+-]{0,79}")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run asks of what.

    Attributes:
        questions: Name of the file of questions.
        keys: Of its questions, in order.
        kb_version: The index that was asked.
        settings: All that answers depend on.
        top_k: Sources of each question.
        answers: Whether the language model wrote.
    """

    questions: str
    keys: tuple[str, ...]
    kb_version: str
    settings: Mapping[str, Any]
    top_k: int
    answers: bool

    @property
    def fingerprint(self) -> str:
        """Equal for plans whose answers may be put together."""
        values = json.dumps([self.kb_version, self.settings, self.top_k, self.answers], sort_keys=True)
        return hashlib.sha256(values.encode("utf-8")).hexdigest()[:16]


class Run:
    """A run in its folder; a context in which records are added.

    Args:
        folder: Exists, with its ``run.json``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        described = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        self.started: str = described["started"]
        self.finished: str = described["finished"]
        plan = described["plan"]
        self.plan = Plan(**{**plan, "keys": tuple(plan["keys"])})
        self._file: int | None = None

    @property
    def name(self) -> str:
        """As it is named on the command line."""
        return self.folder.name

    def records(self) -> list[Record]:
        """Those of its plan, in the plan's order; a line that a crash cut short is no record."""
        records = read_json_lines(self.folder / "records.jsonl", Record.from_json)
        found = {record.key: record for record in records}
        return [found[key] for key in dict.fromkeys(self.plan.keys) if key in found]

    def add(self, record: Record) -> None:
        """Keep a record: it is on its way to the disk when this returns."""
        path = self.folder / "records.jsonl"
        line = json.dumps(record.as_json(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with path.open("a+b", buffering=0) as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                line = line if file.read(1) == b"\n" else b"\n" + line  # after one that was cut short
            file.write(line)

    def extend(self, plan: Plan) -> None:
        """Take over a plan of the same fingerprint with other questions."""
        self.plan, self.finished = plan, ""
        _describe(self.folder, self.plan, self.started, "")

    def finish(self) -> None:
        """Say that all is done."""
        self.finished = _now()
        _describe(self.folder, self.plan, self.started, self.finished)


def folder_of_runs(settings: Settings) -> Path:
    """Where runs are kept; it need not exist."""
    return settings.embeddings / ".eval" / "runs"


def open_run(root: Path, plan: Plan, name: str = "", *, fresh: bool = False) -> Run:
    """A new run, or the unfinished one with the same plan.

    Args:
        root: Folder of all runs; made if need be.
        plan: What is going to be asked.
        name: Of the run; empty for the time of day.
        fresh: Begin anew even if there is one to be resumed.

    Raises:
        RunTakenError: There is another run of that name, or it cannot be one.
    """
    if name:
        if not _NAME.fullmatch(name) or name == LAST:
            raise RunTakenError(name=name)
        if (root / name / "run.json").exists():
            run = _opened(root / name)
            if run is None:
                raise RunTakenError(name=name)
            return _resumed(run, plan, fresh=fresh)
        return _begun(root / name, plan)
    unfinished = [run for run in runs_in(root) if not run.finished and _is_same(run.plan, plan)]
    if unfinished and not fresh:
        return unfinished[-1]
    stem, number = datetime.now(UTC).strftime("%Y%m%d-%H%M%S"), 1
    while (root / (folder := stem if number == 1 else f"{stem}-{number}")).exists():
        number += 1
    return _begun(root / folder, plan)


def runs_in(root: Path) -> list[Run]:
    """All runs, the oldest first."""
    return sorted(_readable(root), key=lambda run: (run.started, run.name))


def find_run(root: Path, name: str, *, before: Run | None = None) -> Run:
    """A run by its name, its folder, or `LAST`.

    Args:
        root: Folder of all runs.
        name: Which one.
        before: Not this one, which is about to be compared with it.

    Raises:
        RunMissingError: There is none.
    """
    others = [run for run in runs_in(root) if before is None or run.folder != before.folder]
    finished = [run for run in others if run.finished]
    if name == LAST and finished:
        return max(finished, key=lambda run: run.finished)
    for run in others:
        if run.name == name:
            return run
    if elsewhere := _opened(Path(name)):
        return elsewhere
    raise RunMissingError(name=name, known=", ".join(run.name for run in others) or "—")


def _is_same(one: Plan, other: Plan) -> bool:
    return (one.fingerprint, one.questions, one.keys) == (other.fingerprint, other.questions, other.keys)


def _resumed(run: Run, plan: Plan, *, fresh: bool) -> Run:
    if fresh or (run.finished and _is_same(run.plan, plan)) or run.plan.fingerprint != plan.fingerprint:
        raise RunTakenError(name=run.name)
    run.extend(plan)
    return run


def _begun(folder: Path, plan: Plan) -> Run:
    folder.mkdir(parents=True, exist_ok=True)
    _describe(folder, plan, _now(), "")
    return Run(folder)


def _readable(root: Path) -> Iterator[Run]:
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        if run := _opened(folder):
            yield run


def _opened(folder: Path) -> Run | None:
    """The run of a folder; None where there is none, or one that is damaged or of another version."""
    try:
        return Run(folder)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _describe(folder: Path, plan: Plan, started: str, finished: str) -> None:
    described = {"started": started, "finished": finished, "plan": asdict(plan)}
    data = json.dumps(described, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    put_in_place(folder / "run.json", data + b"\n")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
