"""``otvet eval run``: known questions asked, everything measured, compared and reported."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli import console
from pipeline.cli.eval_tables import say_misses, say_table
from pipeline.settings import ChunkingName

if TYPE_CHECKING:
    from pipeline.evaluation.asking import Asking
    from pipeline.evaluation.evaluate import Bar
    from pipeline.evaluation.questions import KnownQuestion
    from pipeline.evaluation.report_tables import Report
    from pipeline.evaluation.runs import Plan
    from pipeline.remote.client import RemoteClient
    from pipeline.settings import Settings
    from pipeline.types import AskRequest

__all__ = ["run"]


@dataclass(frozen=True, slots=True)
class _Options:
    """What was asked for on the command line."""

    top_k: int
    answers: bool
    strategy: str
    reranker: str
    name: str
    fresh: bool
    baseline: str
    judge: str
    judge_model: str


@dataclass(frozen=True, slots=True)
class _Done:
    """A run and its report; ``chunking`` is empty for the index as it is."""

    chunking: str
    chunks: int
    unknown_files: list[str]
    report: Report


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

    options = _Options(top_k, answers, strategy, reranker, name, fresh, baseline, judge, judge_model)
    if bool(options.judge) != bool(options.judge_model):
        raise click.UsageError(console.tell("eval_judge_both"))
    known = read_questions(questions)
    bars = [*_bars(fail_under, most=False), *_bars(fail_over, most=True)]
    _check_bars(bars, known_measures(top_k))
    names = list(typing.get_args(ChunkingName)) if "all" in chunking else chunking
    done = [_run(name, settings, questions, known, options) for name, settings in _settings(names)]
    for one in done:
        _write(one, [] if len(done) > 1 else reports)
    if as_json:
        console.print_json({"questions": len(known), "runs": [_json(one) for one in done]})
    else:
        _say(done)
    _hold(done, bars)


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
    chunking: str, settings: Settings, file: Path, questions: Sequence[KnownQuestion], options: _Options
) -> _Done:
    from pipeline.evaluation.evaluate import evaluate
    from pipeline.evaluation.report_tables import Report
    from pipeline.evaluation.runs import find_run, folder_of_runs, open_run
    from pipeline.stores import json_store

    index = json_store.load(settings.embeddings)
    chunks, files = len(index.chunks), {chunk.file for chunk in index.chunks}
    version = index.manifest.build_id
    del index
    # Runs of all cuttings lie together, beside the real index.
    root = folder_of_runs(console.settings())
    name = "-".join(filter(None, (options.name, chunking if options.name else "")))
    run = open_run(root, _plan(file, questions, version, settings, options), name, fresh=options.fresh)
    baseline = find_run(root, options.baseline, before=run) if options.baseline else None
    total = len(dict.fromkeys(run.plan.keys))
    if already := len(run.records()):
        console.say("eval_resumed", err=True, name=run.name, done=already, total=total)
    try:
        with console.progress_bars() as bars, _asking(settings, options) as asking:
            evaluate(run, questions, asking, bars.task(console.tell("eval_asking"), total))
    except KeyboardInterrupt:
        console.say("eval_stopped", err=True, name=run.name, done=len(run.records()), total=total)
        raise
    return _Done(chunking, chunks, _unknown(questions, files), Report(run, console.language(), baseline))


def _plan(
    file: Path, questions: Sequence[KnownQuestion], version: str, settings: Settings, options: _Options
) -> Plan:
    from pipeline import bootstrap
    from pipeline.evaluation.records import key_of
    from pipeline.evaluation.runs import Plan

    models = bootstrap.models_in_force(settings)
    fixed: dict[str, Any] = {
        "search": settings.search.model_dump(mode="json"),
        "index": settings.index.model_dump(mode="json"),
        "embedder": models.embedder,
        "strategy": options.strategy,
        "reranker": options.reranker,
    }
    if options.answers:
        fixed["generator"] = {**settings.generator.model_dump(mode="json"), "model": models.generator}
    if options.judge:
        fixed["judge"] = {"url": options.judge, "model": options.judge_model}
    return Plan(file.name, tuple(map(key_of, questions)), version, fixed, options.top_k, options.answers)


@contextmanager
def _asking(settings: Settings, options: _Options) -> Iterator[typing.Callable[[], Asking]]:
    """What makes ready to ask, once it is called; what it has started is closed at the end."""
    from pipeline import bootstrap
    from pipeline.evaluation.asking import Asking
    from pipeline.evaluation.judge import Judge

    service = bootstrap.create_service(settings)
    server = _judge_server(settings, options.judge) if options.judge else None

    def ready() -> Asking:
        service.start(wait=True, generator=options.answers)
        embedder = service.parts.embedder.get() if options.answers else None
        judge = Judge(server, options.judge_model) if server else None
        return Asking(service, embedder, _request(options), judge)

    try:
        yield ready
    finally:
        service.close()
        if server is not None:
            server.close()


def _judge_server(settings: Settings, url: str) -> RemoteClient:
    from pipeline.remote.client import RemoteClient

    return RemoteClient([url], key=settings.judge_key.get_secret_value())


def _request(options: _Options) -> AskRequest:
    from pipeline.types import AskRequest

    return AskRequest(
        question="",
        use_rag=options.answers,
        top_k=options.top_k,
        strategy=options.strategy,
        reranker=options.reranker,
        language=console.language(),
    )


def _unknown(questions: Sequence[KnownQuestion], files: set[str]) -> list[str]:
    from pipeline.evaluation.questions import is_named

    named = sorted({file for question in questions for file in question.files})
    return [file for file in named if not any(is_named(known, file) for known in files)]


def _bars(given: Sequence[str], *, most: bool) -> list[Bar]:
    from pipeline.evaluation.evaluate import Bar

    bars: list[Bar] = []
    for value in given:
        measure, _, amount = value.rpartition("=")
        try:
            bars.append(Bar(measure.strip().lower(), float(amount), most))
        except ValueError:
            raise click.BadParameter(console.tell("eval_bar_form", value=value)) from None
    return bars


def _check_bars(bars: Sequence[Bar], known: Sequence[str]) -> None:
    for bar in bars:
        if bar.measure not in known:
            names = ", ".join(known)
            raise click.BadParameter(console.tell("eval_bar_unknown", name=bar.measure, known=names))


def _hold(done: Sequence[_Done], bars: Sequence[Bar]) -> None:
    from pipeline.errors import QualityError
    from pipeline.evaluation.evaluate import failures

    for one in done:
        _check_bars(bars, list(one.report.figures))
    if lines := [line for one in done for line in failures(one.report, bars)]:
        raise QualityError(lines="\n".join(lines))


def _write(one: _Done, reports: Sequence[Path]) -> None:
    from pipeline.evaluation.report_html import html
    from pipeline.evaluation.report_markdown import markdown

    folder = one.report.run.folder
    for path in (folder / "report.md", folder / "report.html", *reports):
        made = markdown if path.suffix.lower() in (".md", ".markdown") else html
        path.write_text(made(one.report), encoding="utf-8", newline="\n")


def _json(one: _Done) -> dict[str, Any]:
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


def _say(done: Sequence[_Done]) -> None:
    from pipeline.evaluation.ranking import has_library

    if len(done) == 1:
        for table in done[0].report.tables():
            click.echo(table.heading)
            say_table([list(table.columns), *map(list, table.rows)], table.words)
            click.echo("")
    else:
        _say_cuttings(done)
    for file in dict.fromkeys(file for one in done for file in one.unknown_files):
        console.say("eval_unknown_file", file=file)
    if len(done) == 1:
        say_misses(done[0].report.records)
    if not has_library():
        console.say("eval_without_measures", err=True)
    for one in done:
        console.say("eval_kept", name=one.report.run.name, folder=one.report.run.folder)


def _say_cuttings(done: Sequence[_Done]) -> None:
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
    say_table(rows)
