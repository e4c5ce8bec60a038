"""``otvet sql compare``: what each way to choose tables shows of a schema, and what comes of that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.cli import console

if TYPE_CHECKING:
    from pipeline.evaluation.sql_compare import StrategyResult
    from pipeline.service import QAService

__all__ = ["compare", "costs"]

_NAMES = ("none", "keyword", "dense", "chroma", "hybrid")


@click.command(help=console.tell("sql_compare_help"))
@click.option(
    "--questions",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help=console.tell("sql_compare_option_questions"),
)
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    type=click.Choice(_NAMES),
    help=console.tell("sql_compare_option_strategy"),
)
@click.option("--model", is_flag=True, help=console.tell("sql_compare_option_model"))
@console.json_option
def compare(file: Path | None, strategies: tuple[str, ...], model: bool, as_json: bool) -> None:
    """Compare the ways to choose tables."""
    from pipeline.evaluation.sql_compare import compare_strategies, own_questions
    from pipeline.evaluation.sql_questions import load_sql_questions

    with _service(generator=model) as service:
        tables = service.parts.tables
        if tables is None:
            console.say("sql_none")
            return
        databases = tables.tools.databases
        asked = load_sql_questions(file) if file else own_questions(databases.values())
        chosen = [question for question in asked if question.sql and question.database in databases]
        chosen = [question for question in chosen if question.route == "sql"]
        if not chosen:
            console.say("sql_compare_none")
            return
        count = _counter(service, model=model)
        results = compare_strategies(tables, chosen, strategies or _NAMES, count, model=model)
    if as_json:
        console.print_json([asdict(result) for result in results])
        return
    console.say("sql_compare_questions", count=len(chosen))
    for result in results:
        _say(result)


@click.command(help=console.tell("sql_costs_help"))
@console.json_option
def costs(as_json: bool) -> None:
    """Print what questions over databases have cost, per day."""
    from pipeline.tables.costs import COSTS_FILE, Costs

    days = Costs(console.settings().home / COSTS_FILE).days()
    if as_json:
        console.print_json([asdict(day) for day in days])
        return
    if not days:
        console.say("sql_costs_none")
    for day in days:
        console.say("sql_costs_day", **asdict(day))


@contextmanager
def _service(*, generator: bool) -> Iterator[QAService]:
    from pipeline import bootstrap

    service = bootstrap.create_service(console.settings())
    try:
        if generator and service.parts.worker is not None:
            service.parts.worker.get().wait_ready(120)
        yield service
    finally:
        service.close()


def _counter(service: QAService, *, model: bool) -> Callable[[str], int]:
    """Tokens as the language model counts them; without it as the embedder does, which is near enough."""
    if model and service.parts.worker is not None:
        return service.parts.worker.get().count_tokens
    embedder = service.parts.embedder.get()
    return lambda text: len(embedder.token_spans(text))


def _say(result: StrategyResult) -> None:
    console.say(
        "sql_compare_row",
        strategy=result.strategy,
        tokens=round(result.tokens),
        cut=round(100 * result.cut),
        tables=round(result.tables, 1),
        ms=round(result.ms, 1),
        complete=round(100 * result.complete),
    )
    if result.right is not None:
        console.say(
            "sql_compare_model",
            right=round(100 * result.right),
            seconds=round(result.seconds or 0, 1),
            tokens_in=round(result.tokens_in or 0),
            tokens_out=round(result.tokens_out or 0),
        )
