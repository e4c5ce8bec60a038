"""How fast the product is on this machine and this index; what ``otvet bench`` shows.

Questions are made of the index itself: the topic of a passage, or its first words.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.hardware import resident_bytes
from pipeline.ports import Service
from pipeline.types import AskRequest, Chunk, Failed, Finished, Token

__all__ = [
    "AnswerSpeed",
    "SearchSpeed",
    "SourceQuestions",
    "measure_answers",
    "measure_search",
    "questions_about",
]

_WARM_UPS = 3
_QUESTION_WORDS = 8

Step = Callable[[], None]
"""Called after each question."""


@dataclass(frozen=True, slots=True)
class SourceQuestions:
    """Two questions about one passage."""

    first: str
    second: str


@dataclass(frozen=True, slots=True)
class SearchSpeed:
    """Milliseconds of a search, late interaction and all.

    Attributes:
        questions: How many were measured.
        p50_ms: The median.
        p99_ms: What 99 of 100 searches do not exceed.
        stages_ms: Stage -> its median; ``late_interaction`` is the reranking.
        memory_mb: Resident memory afterwards, in units of 2^20 bytes.
    """

    questions: int
    p50_ms: float
    p99_ms: float
    stages_ms: Mapping[str, float]
    memory_mb: float


@dataclass(frozen=True, slots=True)
class AnswerSpeed:
    """Generated answers.

    Attributes:
        answers: How many were measured; those that the sources did not carry are not among them.
        first_token_s: Median seconds to the first word.
        whole_s: Median seconds to the checked answer.
        same_source_s: Median seconds to the first word of a second question about the same passage.
        read_tokens_per_s: Prompt tokens read a second; None where the engine does not tell.
        written_tokens_per_s: Answer tokens a second; None likewise.
        memory_mb: Resident memory afterwards, in units of 2^20 bytes.
    """

    answers: int
    first_token_s: float
    whole_s: float
    same_source_s: float | None
    read_tokens_per_s: float | None
    written_tokens_per_s: float | None
    memory_mb: float


@dataclass(slots=True)
class _Times:
    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)


def questions_about(chunks: Sequence[Chunk], count: int) -> list[SourceQuestions]:
    """Questions about ``count`` passages that lie evenly over the index; fewer where there are fewer."""
    step = max(len(chunks) / count, 1.0) if count else 1.0
    places = [int(number * step) for number in range(min(count, len(chunks)))]
    return [_about(chunks[place]) for place in places]


def measure_search(service: Service, questions: Sequence[SourceQuestions], step: Step) -> SearchSpeed:
    """Search for every question, one after the other, after a few that do not count.

    Raises:
        OtvetError: As from the service.
    """
    for question in questions[:_WARM_UPS]:
        service.ask(AskRequest(question=question.first), _never)
    times: list[float] = []
    stages: dict[str, list[float]] = {}
    for question in questions:
        started = time.perf_counter()
        reply = service.ask(AskRequest(question=question.first), _never)
        times.append((time.perf_counter() - started) * 1000)
        for name, value in reply.timings_ms.items():
            stages.setdefault(name, []).append(value)
        step()
    return SearchSpeed(
        questions=len(times),
        p50_ms=statistics.median(times),
        p99_ms=sorted(times)[min(len(times) - 1, int(len(times) * 0.99))],
        stages_ms={name: statistics.median(values) for name, values in stages.items()},
        memory_mb=_memory_mb(),
    )


def measure_answers(service: Service, questions: Sequence[SourceQuestions], step: Step) -> AnswerSpeed | None:
    """Two answers for every pair of questions; None when the generator wrote none at all.

    Raises:
        OtvetError: As from the service.
    """
    new, again = _Times(), _Times()
    for question in questions:
        for text, times in ((question.first, new), (question.second, again)):
            _time_answer(service, text, times)
            step()
    if not new.first:
        return None
    generator = service.status().get("generator")
    told = generator if isinstance(generator, Mapping) else {}
    return AnswerSpeed(
        answers=len(new.first) + len(again.first),
        first_token_s=statistics.median(new.first),
        whole_s=statistics.median(new.whole),
        same_source_s=statistics.median(again.first) if again.first else None,
        read_tokens_per_s=told.get("prefill_tokens_per_s"),
        written_tokens_per_s=told.get("decode_tokens_per_s"),
        memory_mb=_memory_mb(),
    )


def _time_answer(service: Service, question: str, times: _Times) -> None:
    started = time.perf_counter()
    first: float | None = None
    for event in service.stream(AskRequest(question=question, use_rag=True), _never):
        if isinstance(event, Token) and first is None:
            first = time.perf_counter() - started
        elif isinstance(event, Failed):
            raise event.error
        elif isinstance(event, Finished) and first is not None:
            times.first.append(first)
            times.whole.append(time.perf_counter() - started)


def _about(chunk: Chunk) -> SourceQuestions:
    words = chunk.text.split()
    opening, middle = words[:_QUESTION_WORDS], words[len(words) // 2 :][:_QUESTION_WORDS]
    topic = chunk.topic if len(chunk.topic.split()) > 1 else " ".join([chunk.topic, *opening]).strip()
    return SourceQuestions(topic, " ".join(middle) or topic)


def _memory_mb() -> float:
    return resident_bytes() / (1 << 20)


def _never() -> bool:
    return False
