"""What a report says, as tables of texts: the terminal, Markdown and HTML show the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pipeline.evaluation.bootstrap import Figure, Sample
from pipeline.evaluation.comparison import Compared, compare
from pipeline.evaluation.runs import Run
from pipeline.evaluation.summary import (
    QUANTILES,
    confusion,
    figures,
    places_for,
    samples,
    stage_quantiles,
)
from pipeline.messages import text
from pipeline.types import Language

__all__ = ["Report", "Table", "measure_name"]


_RANKING = {
    "hit": "hit@{k}",
    "mrr": "MRR",
    "ndcg": "nDCG@{k}",
    "precision": "precision@{k}",
    "recall": "recall@{k}",
}
"""Names that are the same in every language."""

_INTERVAL = "95 %"
_LEAST_SHOWN = 0.001


@dataclass(frozen=True, slots=True)
class Table:
    """Texts in rows; the first column is a name, the others are numbers unless ``words`` says so."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: frozenset[int] = frozenset()


class Report:
    """All that is told of a run.

    Args:
        run: What was asked.
        language: Of the texts.
        baseline: What it is compared with.
    """

    def __init__(self, run: Run, language: Language, baseline: Run | None = None) -> None:
        self.run = run
        self.language = language
        self.baseline = baseline
        self.records = run.records()

    @cached_property
    def samples(self) -> dict[str, Sample]:
        """Measure -> its values."""
        return samples(self.records, places_for(self.run.plan.top_k))

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """Measure -> its figure."""
        return figures(self.samples)

    @cached_property
    def baseline_samples(self) -> dict[str, Sample]:
        """Those of the baseline, counted to the same places; empty without one."""
        if self.baseline is None:
            return {}
        return samples(self.baseline.records(), places_for(self.run.plan.top_k))

    @cached_property
    def compared(self) -> list[Compared]:
        """What changed against the baseline."""
        return compare(self.baseline_samples, self.samples)

    def tell(self, key: str, **values: object) -> str:
        """A text in the report's language."""
        return text("cli", key, self.language, "", **values)

    def tables(self) -> list[Table]:
        """Figures, the comparison, refusals, times; the judge's opinion last and apart."""
        judged = [name for name in self.figures if name.startswith("judge_")]
        own = [name for name in self.figures if name not in judged]
        tables = [self._figures(self.tell("eval_report_figures"), own)]
        if self.baseline is not None:
            tables.append(self._comparison(self.baseline))
        tables += [self._confusion(), self._times()]
        if judged:
            judge = self.run.plan.settings.get("judge", {})
            tables.append(self._figures(self.tell("eval_judge_apart", **judge), judged))
        return [table for table in tables if table.rows]

    def about(self) -> str:
        """One line about the run."""
        return self.tell(
            "eval_report_about",
            name=self.run.name,
            started=self.run.started[:19].replace("T", " "),
            kb_version=self.run.plan.kb_version,
            count=len(self.records),
            answers=self.tell("eval_yes" if self.run.plan.answers else "eval_no"),
        )

    def _figures(self, heading: str, names: Sequence[str]) -> Table:
        measure, value, questions, what = (
            self.tell(f"eval_head_{name}") for name in ("measure", "value", "questions", "what")
        )
        columns = (measure, value, _INTERVAL, questions, what)
        rows = tuple(
            (
                measure_name(name, self.language),
                number(name, one.value),
                f"{number(name, one.low)}–{number(name, one.high)}",
                str(one.questions),
                _what(name, self.language),
            )
            for name, one in ((name, self.figures[name]) for name in names)
        )
        return Table(heading, columns, rows, words=frozenset((4,)))

    def _comparison(self, baseline: Run) -> Table:
        heading = self.tell("eval_compared", name=baseline.name)
        if baseline.plan.kb_version != self.run.plan.kb_version:
            heading += f". {self.tell('eval_compared_other_base')}"
        names = ("measure", "before", "after", "difference", "questions", "judgement")
        *first, questions, judgement = (self.tell(f"eval_head_{name}") for name in names)
        columns = (*first, _INTERVAL, "p", questions, judgement)
        rows = tuple(
            (
                measure_name(one.measure, self.language),
                number(one.measure, one.change.before),
                number(one.measure, one.change.after),
                f"{number(one.measure, one.change.difference, sign=True)}",
                f"{number(one.measure, one.change.low, sign=True)}…"
                f"{number(one.measure, one.change.high, sign=True)}",
                chance_text(one.p),
                str(one.change.questions),
                self.tell(f"eval_{one.judgement}"),
            )
            for one in self.compared
        )
        return Table(heading, columns, rows, words=frozenset((7,)))

    def _confusion(self) -> Table:
        columns = tuple(self.tell(f"eval_head_{name}") for name in ("reach", "answered", "refused"))
        rows = tuple(
            (self.tell(f"eval_reach_{reach}"), str(row["answered"]), str(row["refused"]))
            for reach, row in confusion(self.records).items()
        )
        return Table(self.tell("eval_report_confusion"), columns, rows)

    def _times(self) -> Table:
        columns = (self.tell("eval_head_stage"), *(f"p{share * 100:.0f}" for share in QUANTILES))
        rows = tuple(
            (stage, *(f"{found[share].value:.1f}" for share in QUANTILES))
            for stage, found in stage_quantiles(self.records).items()
        )
        return Table(self.tell("eval_report_times"), columns, rows)


def number(measure: str, value: float, *, sign: bool = False) -> str:
    """A value of a measure as it is shown."""
    digits = 1 if measure in ("tokens_per_s", "total_ms") else 3
    return f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"


def chance_text(p: float) -> str:
    """A chance as it is shown."""
    return f"{p:.3f}" if p >= _LEAST_SHOWN else f"<{_LEAST_SHOWN}"


def measure_name(measure: str, language: Language) -> str:
    """What people call a measure."""
    stem, _, k = measure.partition("@")
    if stem in _RANKING:
        return _RANKING[stem].format(k=k)
    return text("cli", f"eval_measure_{stem}", language, "")


def _what(measure: str, language: Language) -> str:
    stem, _, k = measure.partition("@")
    of = measure if measure == "hit@1" else stem
    return text("cli", f"eval_what_{of}", language, "", k=k)
