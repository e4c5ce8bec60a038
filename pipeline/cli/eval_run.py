"""``otvet eval run``: known questions asked, everything measured, compared and reported."""

from __future__ import annotations

import math
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.cli import console
from pipeline.cli.eval_output import Done, say, write
from pipeline.cli.eval_output import as_json as to_json
from pipeline.cli.eval_prepare import Options, plan_of, prepared, unknown_files
from pipeline.settings import ChunkingName

if TYPE_CHECKING:
    from pipeline.evaluation.evaluate import Bar
    from pipeline.evaluation.questions import KnownQuestion
    from pipeline.settings import Settings

__all__ = ["run"]


@click.command("run", help=console.tell("eval_run_help"))
@click.argument("questions", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--top-k",
    type=click.IntRange(1, 20),
    default=10,
    show_default=True,
    help=console.tell("eval_option_top_k"),
)
@click.option("--answers", is_flag=True, help=console.tell("eval_option_answers"))
@click.option("--strategy", default="", help=console.tell("eval_option_strategy"))
@click.option("--reranker", default="", help=console.tell("eval_option_reranker"))
@click.option(
    "--chunking",
    type=click.Choice([*typing.get_args(ChunkingName), "all"]),
    multiple=True,
    help=console.tell("eval_option_chunking"),
)
@click.option("--name", default="", help=console.tell("eval_option_name"))
@click.option("--fresh", is_flag=True, help=console.tell("eval_option_fresh"))
@click.option("--baseline", default="", metavar="RUN", help=console.tell("eval_option_baseline"))
@click.option("--fail-under", multiple=True, metavar="M=N", help=console.tell("eval_option_fail_under"))
@click.option("--fail-over", multiple=True, metavar="M=N", help=console.tell("eval_option_fail_over"))
@click.option(
    "--report",
    "reports",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help=console.tell("eval_option_report"),
)
@click.option("--judge", default="", metavar="URL", help=console.tell("eval_option_judge"))
@click.option("--judge-model", default="", help=console.tell("eval_option_judge_model"))
@console.json_option
def run(
    *,
    questions: Path,
    top_k: int,
    answers: bool,
    strategy: str,
    reranker: str,
    chunking: Sequence[str],
    name: str,
    fresh: bool,
    baseline: str,
    fail_under: Sequence[str],
    fail_over: Sequence[str],
    reports: Sequence[Path],
    judge: str,
    judge_model: str,
    as_json: bool,
) -> None:
    """Ask, measure, compare, report."""
    from pipeline.evaluation.questions import read_questions
    from pipeline.evaluation.summary import known_measures

    options = Options(top_k, answers, strategy, reranker, name, fresh, baseline, judge, judge_model)
    if bool(options.judge) != bool(options.judge_model):
        raise click.UsageError(console.tell("eval_judge_both"))
    known = read_questions(questions)
    bars = [*_bars(fail_under, most=False), *_bars(fail_over, most=True)]
    _check_bars(bars, known_measures(top_k))
    _check_way(options)
    names = list(typing.get_args(ChunkingName)) if "all" in chunking else chunking
    done = [_run(name, settings, questions, known, options) for name, settings in _settings(names)]
    for one in done:
        write(one, [] if len(done) > 1 else reports)
    if as_json:
        console.print_json({"questions": len(known), "runs": [to_json(one) for one in done]})
    else:
        say(done)
    _hold(done, bars)


def _check_way(options: Options) -> None:
    """Raise at once what the first question would raise: there is no such strategy or reranker."""
    from pipeline.strategies import settled

    search = console.settings().search
    settled(options.strategy or search.strategy, options.reranker)


def _settings(names: Sequence[str]) -> list[tuple[str, Settings]]:
    """The settings of the index as it is, or those of an index for each way to cut."""
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


def _run(
    chunking: str, settings: Settings, file: Path, questions: Sequence[KnownQuestion], options: Options
) -> Done:
    from pipeline.evaluation.evaluate import evaluate
    from pipeline.evaluation.report_tables import Report
    from pipeline.evaluation.runs import find_run, folder_of_runs, open_run

    # Runs of all cuttings lie together, beside the real index.
    root = folder_of_runs(console.settings())
    name = "-".join(filter(None, (options.name, chunking if options.name else "")))
    with prepared(settings, options) as ready:
        plan = plan_of(file, questions, ready.asking.kb_version, settings, options)
        run = open_run(root, plan, name, fresh=options.fresh)
        baseline = find_run(root, options.baseline, before=run) if options.baseline else None
        total = len(dict.fromkeys(plan.keys))
        if already := len(run.records()):
            console.say("eval_resumed", err=True, name=run.name, done=already, total=total)
        try:
            with console.progress_bars() as bars:
                evaluate(run, questions, ready.asking, bars.task(console.tell("eval_asking"), total))
        except KeyboardInterrupt:
            done = len(run.records())
            console.say("eval_stopped", err=True, name=run.name, done=done, total=total)
            raise
    unknown = unknown_files(questions, ready.files)
    return Done(chunking, ready.chunks, unknown, Report(run, console.language(), baseline))


def _bars(given: Sequence[str], *, most: bool) -> list[Bar]:
    from pipeline.evaluation.evaluate import Bar

    bars: list[Bar] = []
    for value in given:
        measure, _, amount = value.rpartition("=")
        try:
            bars.append(Bar(measure.strip().lower(), _limit(amount), most))
        except ValueError:
            raise click.BadParameter(console.tell("eval_bar_form", value=value)) from None
    return bars


def _limit(amount: str) -> float:
    limit = float(amount)
    if not math.isfinite(limit):
        raise ValueError(amount)  # nothing is below NaN: such a bar would never say anything
    return limit


def _check_bars(bars: Sequence[Bar], known: Sequence[str]) -> None:
    for bar in bars:
        if bar.measure not in known:
            names = ", ".join(known)
            raise click.BadParameter(console.tell("eval_bar_unknown", name=bar.measure, known=names))


def _hold(done: Sequence[Done], bars: Sequence[Bar]) -> None:
    from pipeline.errors import QualityError
    from pipeline.evaluation.evaluate import failures

    for one in done:
        _check_bars(bars, list(one.report.figures))
    if lines := [line for one in done for line in failures(one.report, bars)]:
        raise QualityError(lines="\n".join(lines))
