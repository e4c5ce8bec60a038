"""A run from its first open question to its last, and what of it has to hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.evaluation.asking import Asking
from pipeline.evaluation.questions import KnownQuestion
from pipeline.evaluation.records import key_of
from pipeline.evaluation.report_tables import Report, chance_text, measure_name, number
from pipeline.evaluation.runs import Run

__all__ = ["Bar", "evaluate", "failures"]


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure that a run must not be below, or with ``most`` not above."""

    measure: str
    value: float
    most: bool = False


def evaluate(
    run: Run,
    questions: Sequence[KnownQuestion],
    asking: Asking,
    step: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Ask what is still open; each reply is kept before the next question is put.

    Args:
        run: New or to be resumed.
        questions: Those of its plan.
        asking: How they are put.
        step: Called with (done, all), first with what was there.

    Raises:
        OtvetError: As from the service; what is done stays done.
    """
    done = {record.key for record in run.records()}
    open_ = {key_of(question): question for question in questions if key_of(question) not in done}
    total = len(done) + len(open_)
    step(len(done), total)
    for count, question in enumerate(open_.values(), start=len(done) + 1):
        run.add(asking.ask(question))
        step(count, total)
    run.finish()


def failures(report: Report, bars: Sequence[Bar]) -> list[str]:
    """What is below its bar, and what is significantly worse than in the baseline, one text each."""
    said: list[str] = []
    for bar in bars:
        value = report.figures[bar.measure].value
        if value > bar.value if bar.most else value < bar.value:
            key = "eval_bar_over" if bar.most else "eval_bar_under"
            shown = number(bar.measure, value)
            said.append(report.tell(key, name=bar.measure, value=shown, bar=f"{bar.value:g}"))
    for one in report.compared:
        if one.judgement == "worse" and one.counts:
            before, after = (number(one.measure, value) for value in (one.change.before, one.change.after))
            name = measure_name(one.measure, report.language)
            said.append(
                report.tell("eval_bar_worse", name=name, before=before, after=after, p=chance_text(one.p))
            )
    return said
