"""How well the sources of a service answer known questions.

Two steps, so that more can be measured of the same answers: `ask_all` keeps what came of each question,
`quality` counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.evaluation.metrics import mean_reciprocal_rank, recall_at
from pipeline.evaluation.questions import KnownQuestion
from pipeline.ports import Service
from pipeline.text.normalise import fold
from pipeline.types import AskRequest, Reply

__all__ = ["Outcome", "Quality", "ask_all", "quality"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question.

    Attributes:
        rank: Of the first right source, from 1; None if none of those shown is right.
        files: Files of the sources, best first, one entry a source.
        is_refused: True if the service says that there is no answer.
        is_answered: Whether the answer or a quote shows a right answer; None where that is not known.
        ms: Milliseconds it took.
    """

    question: KnownQuestion
    rank: int | None
    files: tuple[str, ...]
    is_refused: bool
    is_answered: bool | None
    ms: float


@dataclass(frozen=True, slots=True)
class Quality:
    """Shares of 0..1; None where no question tells.

    Attributes:
        answerable: Questions that have an answer; ``hits``, ``mrr`` and ``answered`` are about them.
        hits: k -> share with a right source among the first k.
        mrr: Mean of 1 / rank of the first right source, a missing one counting 0.
        answered: Share whose answer or quotes show a right answer, of those where that is known.
        refused_wrongly: Share of the answerable that were refused.
        unanswerable: Questions without an answer.
        refused_rightly: Share of the unanswerable that were refused.
    """

    answerable: int
    hits: dict[int, float]
    mrr: float | None
    answered: float | None
    refused_wrongly: float | None
    unanswerable: int
    refused_rightly: float | None


def ask_all(
    service: Service,
    questions: Sequence[KnownQuestion],
    top_k: int,
    step: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """Ask for the sources of every question, without the language model.

    Args:
        service: Ready to search.
        questions: At least one.
        top_k: Sources to look at, 1..20.
        step: Called after each question.

    Raises:
        OtvetError: As from the service.
    """
    outcomes: list[Outcome] = []
    for question in questions:
        reply = service.ask(AskRequest(question=question.text, top_k=top_k), lambda: False)
        outcomes.append(_outcome(question, reply))
        step()
    return outcomes


def quality(outcomes: Sequence[Outcome], ks: Sequence[int]) -> Quality:
    """Count what came of the questions; ``ks`` are the places that hits are counted to."""
    answerable = [outcome for outcome in outcomes if outcome.question.is_answerable]
    others = [outcome for outcome in outcomes if not outcome.question.is_answerable]
    ranks = [outcome.rank for outcome in answerable]
    return Quality(
        answerable=len(answerable),
        hits={k: recall_at(ranks, k) for k in ks},
        mrr=mean_reciprocal_rank(ranks) if ranks else None,
        answered=_share([o.is_answered for o in answerable if o.is_answered is not None]),
        refused_wrongly=_share([outcome.is_refused for outcome in answerable]),
        unanswerable=len(others),
        refused_rightly=_share([outcome.is_refused for outcome in others]),
    )


def _outcome(question: KnownQuestion, reply: Reply) -> Outcome:
    files = tuple(source.file for source in reply.sources)
    rank = next((place for place, file in enumerate(files, start=1) if question.is_in(file)), None)
    answered: bool | None = None
    if question.answers:
        shown = fold("\n".join((reply.answer.text, *(source.quote for source in reply.sources))))
        answered = any(fold(answer) in shown for answer in question.answers)
    is_refused = reply.answer.outcome == "not_found"
    return Outcome(question, rank, files, is_refused, answered, reply.timings_ms.get("total", 0.0))


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
