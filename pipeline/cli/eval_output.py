"""What ``otvet eval run`` prints and writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli import console

if TYPE_CHECKING:
    from pipeline.evaluation.records import Record
    from pipeline.evaluation.report_tables import Report

__all__ = ["Done", "as_json", "say", "write"]


@dataclass(frozen=True, slots=True)
class Done:
    """A run and its report; ``chunking`` is empty for the index as it is, ``chunks`` None where not known."""

    chunking: str
    chunks: int | None
    unknown_files: list[str]
    report: Report


def write(one: Done, reports: Sequence[Path]) -> None:
    """The reports in the run's own folder, and wherever else they are wanted."""
    from pipeline.evaluation.report_html import html
    from pipeline.evaluation.report_markdown import markdown

    folder = one.report.run.folder
    for path in (folder / "report.md", folder / "report.html", *reports):
        made = markdown if path.suffix.lower() in (".md", ".markdown") else html
        path.write_text(made(one.report), encoding="utf-8", newline="\n")


def as_json(one: Done) -> dict[str, Any]:
    """All of a run, as JSON values."""
    from pipeline.evaluation.summary import confusion, stage_quantiles

    report = one.report
    return {
        "run": report.run.name,
        "folder": str(report.run.folder),
        "baseline": report.baseline.name if report.baseline else None,
        "chunking": one.chunking or None,
        "chunks": one.chunks,
        "kb_version": report.run.plan.kb_version,
        "settings": report.run.plan.settings,
        "figures": {name: asdict(figure) for name, figure in report.figures.items()},
        "compared": [{**asdict(found), "difference": found.change.difference} for found in report.compared],
        "confusion": confusion(report.records),
        "stages_ms": {
            stage: {f"p{share * 100:.0f}": figure.value for share, figure in found.items()}
            for stage, found in stage_quantiles(report.records).items()
        },
        "unknown_files": one.unknown_files,
        "outcomes": [
            {**record.as_json(), "rank": record.ranking.rank, "refused": record.is_refused}
            for record in report.records
        ],
    }


def say(done: Sequence[Done]) -> None:
    """Print the tables of a run, or one line for each of several."""
    from pipeline.evaluation.ranking import has_library

    if len(done) == 1:
        for table in done[0].report.tables():
            click.echo(table.heading)
            console.say_table([list(table.columns), *map(list, table.rows)], table.words)
            click.echo("")
    else:
        _say_cuttings(done)
    for file in dict.fromkeys(file for one in done for file in one.unknown_files):
        console.say("eval_unknown_file", file=file)
    if len(done) == 1:
        _say_misses(done[0].report.records)
    if not has_library():
        console.say("eval_without_measures", err=True)
    for one in done:
        console.say("eval_kept", name=one.report.run.name, folder=one.report.run.folder)


def _say_cuttings(done: Sequence[Done]) -> None:
    """One line for each way to cut."""
    from pipeline.evaluation.report_tables import measure_name, number

    shown = [
        name for name in done[0].report.figures if not name.startswith(("judge_", "word_", "precision@"))
    ]
    heading = [console.tell("eval_column_chunking"), console.tell("eval_column_chunks")]
    rows = [heading + [measure_name(name, console.language()) for name in shown]]
    for one in done:
        found = (one.report.figures.get(name) for name in shown)
        cells = [
            number(name, figure.value) if figure else "—" for name, figure in zip(shown, found, strict=True)
        ]
        rows.append([one.chunking or console.tell("eval_as_it_is"), str(one.chunks), *cells])
    console.say_table(rows)


_SHOWN_MISSES = 20


def _say_misses(records: Sequence[Record]) -> None:
    """The questions whose first source is not the right one."""
    missed = [one for one in records if one.question.is_answerable and one.ranking.rank != 1]
    if missed:
        console.say("eval_misses", count=len(missed))
    for record in missed[:_SHOWN_MISSES]:
        found = record.files[0] if record.files else "—"
        rank = record.ranking.rank
        line, text = record.question.line, record.question.text
        key = "eval_miss" if rank else "eval_miss_none"
        console.say(key, line=line, question=text, rank=rank, file=found)
