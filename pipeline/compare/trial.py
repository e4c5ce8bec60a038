"""A set of questions with known answers, put by every way; what came of each is written down at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.compare.question import ask_by
from pipeline.compare.ways import Way
from pipeline.errors import CancelledError
from pipeline.evaluation.places import place_of
from pipeline.evaluation.questions import KnownQuestion
from pipeline.evaluation.ranking import Ranking
from pipeline.evaluation.records import key_of
from pipeline.json_lines import read_json_lines
from pipeline.ports import Service
from pipeline.types import AskRequest

__all__ = ["Journal", "Trial", "run_trials"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One question by one way.

    Attributes:
        key: Of the question with what is known of it.
        right: For each source, best first, the number of the right place it is from, or None.
        places: How many right places there are; 0 for a question without an answer.
        refused: The base was taken to have no answer.
        tokens: What the model would have to read.
        ms: Of the search, without the encoding of the question.
        encode_ms: Of that.
    """

    key: str
    way: Way
    right: tuple[int | None, ...]
    places: int
    refused: bool
    tokens: int
    ms: float
    encode_ms: float

    @property
    def ranking(self) -> Ranking:
        """The sources, as they are counted."""
        return Ranking(self.right, max(self.places, 1))


class Journal:
    """Trials of one set under one index and settings, a line each; what a crash cut short is no line.

    Args:
        folder: Made if need be.
        fingerprint: Of everything that the outcome depends on.
    """

    def __init__(self, folder: Path, fingerprint: Mapping[str, Any]) -> None:
        name = hashlib.sha256(json.dumps(fingerprint, sort_keys=True, default=str).encode()).hexdigest()[:16]
        self.path = folder / f"{name}.jsonl"

    def read(self) -> dict[tuple[str, Way], Trial]:
        """What is done already."""
        return {(trial.key, trial.way): trial for trial in read_json_lines(self.path, _trial)}

    def add(self, trial: Trial) -> None:
        """Keep a trial."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # A line break before, too: the line that a crash cut short stays alone.
        with self.path.open("ab", buffering=0) as file:
            file.write(b"\n" + json.dumps(asdict(trial)).encode() + b"\n")

    def close(self) -> None:
        """All is done: the next comparison begins anew."""
        self.path.unlink(missing_ok=True)


def _trial(values: Mapping[str, Any]) -> Trial:
    return Trial(**{**values, "way": Way(**values["way"]), "right": tuple(values["right"])})


def run_trials(
    service: Service,
    questions: Sequence[KnownQuestion],
    ways: Sequence[Way],
    journal: Journal,
    *,
    top_k: int = 10,
    step: Callable[[int, int], None] = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[Trial]:
    """Put every question by every way; what the journal holds is not put again.

    Args:
        service: Ready to search.
        questions: What is asked.
        ways: By which ways.
        journal: Of this very set.
        top_k: Sources to look at.
        step: Told how many searches are done.
        cancelled: Looked at before every search.

    Raises:
        CancelledError: ``cancelled()`` became true; the journal keeps what is done.
        OtvetError: As from the service.
    """
    done = journal.read()
    trials: list[Trial] = []
    total = len(questions) * len(ways)
    for question, way in _pairs(questions, ways):
        trial = done.get((key_of(question), way))
        if trial is None:
            if cancelled():
                raise CancelledError
            trial = _tried(service, question, way, top_k)
            journal.add(trial)
        trials.append(trial)
        step(len(trials), total)
    return trials


def _pairs(questions: Sequence[KnownQuestion], ways: Sequence[Way]) -> Iterator[tuple[KnownQuestion, Way]]:
    # Question by question: what the machine does besides hits all ways alike.
    return ((question, way) for question in questions for way in ways)


def _tried(service: Service, question: KnownQuestion, way: Way, top_k: int) -> Trial:
    request = ask_by(AskRequest(question=question.text, top_k=top_k), way)
    found = service.explain(request)
    timings = dict(found.retrieval.timings_ms)
    encode_ms = timings.pop("encode", 0.0)
    return Trial(
        key=key_of(question),
        way=way,
        right=tuple(place_of(question, hit.chunk) for hit in found.retrieval.hits),
        places=len(question.passages or question.files),
        refused=found.evidence.refused,
        tokens=found.read_tokens,
        ms=sum(timings.values()),
        encode_ms=encode_ms,
    )
