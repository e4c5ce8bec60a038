"""``otvet eval``: how often the right source is found, over a file of known questions."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli import console
from pipeline.cli.default_group import DefaultGroup
from pipeline.settings import ChunkingName

if TYPE_CHECKING:
    from pipeline.evaluation.questions import KnownQuestion
    from pipeline.evaluation.retrieval import Outcome, Quality
    from pipeline.settings import Settings

__all__ = ["eval"]

_SHOWN_MISSES = 20


@dataclass(frozen=True, slots=True)
class _Run:
    """All questions asked of one index; ``name`` is a strategy, empty for the index as it is."""

    name: str
    chunks: int
    unknown_files: list[str]
    outcomes: list[Outcome]
    quality: Quality


@click.group(cls=DefaultGroup, help=console.tell("eval_group_help"))
def eval() -> None:  # noqa: A001
    """Ask known questions; make such questions (`pipeline.cli.eval_make`)."""


@eval.command("run", help=console.tell("eval_help"))
@click.argument("questions", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--top-k",
    type=click.IntRange(1, 20),
    default=10,
    show_default=True,
    help=console.tell("eval_option_top_k"),
)
@click.option(
    "--chunking",
    type=click.Choice([*typing.get_args(ChunkingName), "all"]),
    multiple=True,
    help=console.tell("eval_option_chunking"),
)
@console.json_option
def run(questions: Path, top_k: int, chunking: Sequence[str], as_json: bool) -> None:
    """Ask, count, print."""
    from pipeline.evaluation.questions import read_questions

    known = read_questions(questions)
    runs = [
        _run(name, settings, known, top_k)
        for name, settings in _settings(
            list(typing.get_args(ChunkingName)) if "all" in chunking else chunking
        )
    ]
    if as_json:
        console.print_json({"questions": len(known), "runs": [_json(run) for run in runs]})
        return
    _say_table(runs, known)
    for file in dict.fromkeys(file for run in runs for file in run.unknown_files):
        console.say("eval_unknown_file", file=file)
    if len(runs) == 1:
        _say_misses(runs[0].outcomes)


def _settings(names: Sequence[str]) -> list[tuple[str, Settings]]:
    """The settings of the index as it is, or those of an index for each strategy."""
    from pipeline import bootstrap
    from pipeline.evaluation.strategies import cut_by

    settings = console.settings()
    if not names:
        return [("", settings)]
    source = bootstrap.embedder_source(settings).kept()
    made: list[tuple[str, Settings]] = []
    for name in dict.fromkeys(names):
        with console.progress_bars() as bars:
            bar = bars.task(console.tell("eval_indexing", name=name))
            made.append((name, cut_by(settings, typing.cast(ChunkingName, name), source, bar)))
            bar(1, 1)  # also where there was nothing to do
    return made


def _run(name: str, settings: Settings, questions: Sequence[KnownQuestion], top_k: int) -> _Run:
    from pipeline import bootstrap
    from pipeline.evaluation.questions import is_named
    from pipeline.evaluation.retrieval import ask_all, quality
    from pipeline.stores import json_store

    index = json_store.load(settings.embeddings)
    chunks, files = len(index.chunks), {chunk.file for chunk in index.chunks}
    del index
    unknown = [
        file
        for file in sorted({file for question in questions for file in question.files})
        if not any(is_named(known, file) for known in files)
    ]
    service = bootstrap.create_service(settings)
    try:
        service.start(wait=True, generator=False)
        with console.progress_bars() as bars:
            bar = bars.task(console.tell("eval_asking"), len(questions))
            done = iter(range(1, len(questions) + 1))
            outcomes = ask_all(service, questions, top_k, lambda: bar(next(done), len(questions)))
    finally:
        service.close()
    return _Run(name, chunks, unknown, outcomes, quality(outcomes, sorted({1, min(3, top_k), top_k})))


def _json(run: _Run) -> dict[str, Any]:
    return {
        "chunking": run.name or None,
        "chunks": run.chunks,
        **asdict(run.quality),
        "unknown_files": run.unknown_files,
        "outcomes": [
            {
                "line": outcome.question.line,
                "question": outcome.question.text,
                "rank": outcome.rank,
                "files": outcome.files,
                "refused": outcome.is_refused,
                "answered": outcome.is_answered,
                "ms": outcome.ms,
            }
            for outcome in run.outcomes
        ],
    }


def _say_table(runs: Sequence[_Run], questions: Sequence[KnownQuestion]) -> None:
    answerable = sum(question.is_answerable for question in questions)
    console.say("eval_questions", answerable=answerable, unanswerable=len(questions) - answerable)
    hits = list(runs[0].quality.hits)
    names = ("chunking", "chunks", "answered", "refused_wrongly", "refused_rightly")
    chunking, chunks, *shares = (console.tell(f"eval_column_{name}") for name in names)
    rows = [[chunking, chunks, *(f"hit@{k}" for k in hits), "MRR", *shares]]
    for run in runs:
        found = run.quality
        figures = (
            *found.hits.values(), found.mrr, found.answered, found.refused_wrongly, found.refused_rightly
        )  # fmt: skip
        name = run.name or console.tell("eval_as_it_is")
        rows.append([name, str(run.chunks), *("—" if one is None else f"{one:.3f}" for one in figures)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *rest = (
            cell.ljust(width) if not place else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        click.echo("  ".join((first, *rest)).rstrip())


def _say_misses(outcomes: Sequence[Outcome]) -> None:
    """The questions whose first source is not the right one."""
    missed = [outcome for outcome in outcomes if outcome.question.is_answerable and outcome.rank != 1]
    if missed:
        console.say("eval_misses", count=len(missed))
    for outcome in missed[:_SHOWN_MISSES]:
        found = outcome.files[0] if outcome.files else "—"
        rank = outcome.rank or "—"
        console.say(
            "eval_miss", line=outcome.question.line, question=outcome.question.text, rank=rank, file=found
        )
