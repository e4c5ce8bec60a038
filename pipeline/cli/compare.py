"""``otvet compare``: all strategies side by side, on one question or over a set, and over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli import console
from pipeline.cli.compare_tables import say_history, say_set, say_side_by_side
from pipeline.types import AskRequest

if TYPE_CHECKING:
    from pipeline.compare.question import SideBySide
    from pipeline.service import QAService
    from pipeline.settings import Settings

__all__ = ["compare"]

LOADING_S = 300.0
"""The language model is waited for no longer than this."""

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(help=console.tell("compare_help"), context_settings={"ignore_unknown_options": True})
@click.argument("question", nargs=-1, type=click.UNPROCESSED)
@click.option("--strategy", "strategies", multiple=True, help=console.tell("compare_option_strategy"))
@click.option("--reranker", "rerankers", multiple=True, help=console.tell("compare_option_reranker"))
@click.option("--top-k", type=click.IntRange(1, 20), help=console.tell("compare_option_top_k"))
@click.option("--answers", is_flag=True, help=console.tell("compare_option_answers"))
@click.option("--questions", type=_FILE, help=console.tell("compare_option_questions"))
@click.option("--history", "with_history", is_flag=True, help=console.tell("compare_option_history"))
@click.option("--plot", type=_FILE, help=console.tell("compare_option_plot"))
@click.option("--measure", default="mrr", show_default=True, help=console.tell("compare_option_measure"))
@console.json_option
def compare(
    *,
    question: tuple[str, ...],
    strategies: Sequence[str],
    rerankers: Sequence[str],
    top_k: int | None,
    answers: bool,
    questions: Path | None,
    with_history: bool,
    plot: Path | None,
    measure: str,
    as_json: bool,
) -> None:
    """Compare the strategies."""
    if bool(question) + (questions is not None) + with_history != 1:
        raise click.UsageError(console.tell("compare_one_of"))
    _check_measure(measure)
    settings = console.settings()
    if questions is not None:
        _over_a_set(settings, questions, strategies, rerankers, top_k or 10, as_json=as_json)
    elif question:
        request = AskRequest(question=" ".join(question), top_k=top_k or 3, language=console.language())
        _on_one(settings, request, strategies, rerankers, answers=answers, as_json=as_json)
    else:
        _history(settings, measure, as_json=as_json)
    if plot is not None:
        _write_plot(settings, questions, measure, plot)


def _check_measure(measure: str) -> None:
    from pipeline.compare.figures import MEASURES

    if measure not in MEASURES:
        raise click.UsageError(console.tell("compare_measures", known=", ".join(MEASURES)))


def _on_one(
    settings: Settings,
    request: AskRequest,
    strategies: Sequence[str],
    rerankers: Sequence[str],
    *,
    answers: bool,
    as_json: bool,
) -> None:
    from pipeline.compare.question import side_by_side
    from pipeline.compare.ways import default_way, ways_of
    from pipeline.web.comparing import rendered

    ways = ways_of(strategies, rerankers)
    with _service(settings, generator=answers) as service:
        found = side_by_side(service, request, ways, default_way(settings.search))
        if not as_json:
            say_side_by_side(found)
        written: list[dict[str, Any]] = []
        for answer in _answers(service, request, found) if answers else ():
            written.append(answer)
            if not as_json:
                console.say("compare_answer", **{key: answer[key] for key in ("way", "seconds", "answer")})
    if as_json:
        told = rendered(found, console.language(), settings.server.address)
        console.print_json(told | ({"answers": written} if answers else {}))


def _answers(service: QAService, request: AskRequest, found: SideBySide) -> Iterator[dict[str, Any]]:
    """What the language model makes of the sources of every way, one after the other."""
    from dataclasses import replace

    from pipeline.compare.question import ask_by

    plain = replace(request, question=f"-- {found.question}", use_rag=True, deadline_s=600.0)
    for one in found.seen:
        reply = service.ask(ask_by(plain, one.way), lambda: False)
        yield {
            "strategy": one.way.strategy,
            "reranker": one.way.reranker,
            "way": one.way.name,
            "answer": reply.answer.text,
            "outcome": reply.answer.outcome,
            "model": reply.model,
            "seconds": round(reply.timings_ms.get("total", 0.0) / 1000, 1),
        }


def _over_a_set(
    settings: Settings,
    path: Path,
    strategies: Sequence[str],
    rerankers: Sequence[str],
    top_k: int,
    *,
    as_json: bool,
) -> None:
    from pipeline.compare.sets import compare_set
    from pipeline.compare.ways import ways_of
    from pipeline.evaluation.questions import read_questions

    known = read_questions(path)
    ways = ways_of(strategies, rerankers)
    with _service(settings, generator=False) as service, console.progress_bars() as bars:
        bar = bars.task(console.tell("compare_asking"), len(known) * len(ways))
        found = compare_set(service, settings, path.name, known, ways, top_k=top_k, step=bar)
    if as_json:
        console.print_json(
            {
                "questions": path.name,
                "count": len(known),
                "kb_version": found.kb_version,
                "counted_by": found.counted_by,
                "left_out": [way.name for way in found.left_out],
                "ways": [entry.as_json() for entry in found.entries],
            }
        )
        return
    say_set(found, path.name, len(known))


def _history(settings: Settings, measure: str, *, as_json: bool) -> None:
    from pipeline.compare.history import history_of, read

    entries = read(history_of(settings))
    if as_json:
        console.print_json([entry.as_json() for entry in entries])
    elif entries:
        say_history(entries, measure)
    else:
        console.say("compare_no_history")


def _write_plot(settings: Settings, questions: Path | None, measure: str, path: Path) -> None:
    """As SVG, or by matplotlib as PNG; which one the name says."""
    from pipeline.compare.history import history_of, read
    from pipeline.compare.png import write_png
    from pipeline.web.comparing import drawn

    name = questions.name if questions is not None else ""
    if path.suffix.lower() == ".png":
        write_png(read(history_of(settings)), name, measure, console.language(), path)
    else:
        path.write_text(drawn(settings, name, measure, console.language(), alone=True), encoding="utf-8")
    console.say("compare_plot_written", err=True, path=path)


@contextmanager
def _service(settings: Settings, *, generator: bool) -> Iterator[QAService]:
    from pipeline import bootstrap

    service = bootstrap.create_service(settings)
    try:
        service.start(wait=True, generator=generator)
        if generator and service.parts.worker is not None:
            # What the model would read is counted in its own tokens once it is there.
            service.parts.worker.get().wait_ready(LOADING_S)
        yield service
    finally:
        service.close()
