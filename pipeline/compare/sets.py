"""A whole comparison over a file of questions: trials, figures, and the line in the history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline import __version__
from pipeline.compare.figures import Summary, summaries
from pipeline.compare.history import Entry, append, folder_of, history_of
from pipeline.compare.question import ask_by
from pipeline.compare.trial import Journal, run_trials
from pipeline.compare.ways import Way, default_way
from pipeline.evaluation.questions import KnownQuestion
from pipeline.ports import Service
from pipeline.retrieval.search import NO_CROSS_ENCODER
from pipeline.settings import Settings
from pipeline.strategies import RERANKERS
from pipeline.types import AskRequest

__all__ = ["Compared", "compare_set"]


@dataclass(frozen=True, slots=True)
class Compared:
    """What came of a set.

    Attributes:
        left_out: Ways that need a cross-encoder, where none is installed.
    """

    default: Way
    summaries: list[Summary]
    entries: list[Entry]
    kb_version: str
    counted_by: str
    left_out: tuple[Way, ...]


def compare_set(
    service: Service,
    settings: Settings,
    name: str,
    questions: Sequence[KnownQuestion],
    ways: Sequence[Way],
    *,
    top_k: int = 10,
    step: Callable[[int, int], None] = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Compared:
    """Put every question by every way, count, and keep the figures in the history.

    An interrupted comparison goes on where it stopped, as long as index and settings are the same.

    Args:
        service: Ready to search.
        settings: Those of the service.
        name: What the set is called in the history.
        questions: At least one.
        ways: The default is added where it is missing: the others are held against it.
        top_k: Sources to look at.
        step: Told how many searches are done.
        cancelled: Looked at before every search.

    Raises:
        CancelledError: ``cancelled()`` became true.
        OtvetError: As from the service.
    """
    default = default_way(settings.search)
    first = AskRequest(question=f"-- {questions[0].text}")
    asked = service.explain(ask_by(first, default))
    left_out = tuple(way for way in ways if _is_missing(service, first, way))
    chosen = tuple(way for way in dict.fromkeys((*ways, default)) if way not in left_out)
    depends: dict[str, Any] = {
        **settings.search.model_dump(exclude={"strategy", "reranker"}),
        "top_k": top_k,
        "prompt_tokens": settings.generator.context_tokens - settings.generator.answer_tokens,
        "counted_by": asked.counted_by,
        "version": __version__,
    }
    journal = Journal(folder_of(settings), {"kb": asked.kb_version, "set": name, **depends})
    trials = run_trials(service, questions, chosen, journal, top_k=top_k, step=step, cancelled=cancelled)
    found = summaries(trials, default)
    entries = append(
        history_of(settings),
        found,
        questions=name,
        count=len(questions),
        kb_version=asked.kb_version,
        settings=depends,
        default=default,
    )
    journal.close()
    return Compared(default, found, entries, asked.kb_version, asked.counted_by, left_out)


def _is_missing(service: Service, request: AskRequest, way: Way) -> bool:
    """Whether a way would only be called so: without a model to read, another order stands in for it."""
    if not RERANKERS[way.reranker].reads:
        return False
    return NO_CROSS_ENCODER in service.explain(ask_by(request, way)).retrieval.notes
