"""What came of one question, as it is kept on disk: raw facts, so that figures can be counted anew."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pipeline.evaluation.faithfulness import Sentence
from pipeline.evaluation.questions import KnownQuestion
from pipeline.evaluation.ranking import Ranking

__all__ = ["Record", "Verdict", "key_of"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a second language model says of an answer, each 0..1; None where it said nothing usable."""

    faithful: float | None
    relevant: float | None
    correct: float | None
    said: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """What came of one question.

    Attributes:
        key: Of the question with all that is known of it; the same in every run.
        files: Of the sources, best first.
        right: For each source the number of the right place it is from (a passage of the question, else
            one of its files), or None.
        outcome: Of the reply.
        model: Who wrote the answer.
        shown: Whether the answer or a quote shows a right answer; None where that is not known.
        matches: The same of the answer alone.
        f1, word_recall: Over the stems of the right answers; None likewise.
        markers, valid_markers: Of the answer.
        sentences: Of the answer, judged; None where that was not asked for.
        relevance: How far the answer takes up the question's words, by late interaction; None likewise.
        written_tokens: Of the generator; None where it wrote nothing or does not tell.
        timings_ms: Stage -> milliseconds, ``total`` among them.
    """

    key: str
    question: KnownQuestion
    files: tuple[str, ...]
    right: tuple[int | None, ...]
    outcome: str
    answer: str
    model: str
    shown: bool | None = None
    matches: bool | None = None
    f1: float | None = None
    word_recall: float | None = None
    markers: int = 0
    valid_markers: int = 0
    sentences: tuple[Sentence, ...] | None = None
    relevance: float | None = None
    written_tokens: int | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    verdict: Verdict | None = None

    @property
    def is_refused(self) -> bool:
        """True if the service said that there is no answer."""
        return self.outcome == "not_found"

    @property
    def writing_s(self) -> float | None:
        """Seconds from the first token to the last; None where nothing was written."""
        first = self.timings_ms.get("first_token")
        if first is None or "generation" not in self.timings_ms:
            return None
        laps = (ms for stage, ms in self.timings_ms.items() if stage not in ("first_token", "check", "total"))
        return max((sum(laps) - first) / 1000, 0.0)

    @property
    def ranking(self) -> Ranking:
        """The sources, as they are counted."""
        return Ranking(self.right, len(self.question.passages or self.question.files) or 1)

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Record:
        """What ``as_json`` made.

        Raises:
            ValueError, TypeError, KeyError: It is something else.
        """
        given = dict(values)
        asked: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given["question"].items()
        }
        given["question"] = KnownQuestion(**asked)
        sentences: Sequence[Mapping[str, Any]] | None = given["sentences"]
        if sentences is not None:
            given["sentences"] = tuple(
                Sentence(**{**one, "numbers": tuple(one["numbers"])}) for one in sentences
            )
        if given["verdict"] is not None:
            given["verdict"] = Verdict(**given["verdict"])
        return cls(**{**given, "files": tuple(given["files"]), "right": tuple(given["right"])})


def key_of(question: KnownQuestion) -> str:
    """The same for the same question with the same known answer, wherever it stands in a file."""
    known = [question.text, question.files, question.answers, question.passages, question.reach]
    return hashlib.sha256(json.dumps(known, ensure_ascii=False).encode("utf-8")).hexdigest()[:16]
