"""``otvet bench``: how fast search and answers are on this machine, over the user's own index."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pipeline.cli import console

if TYPE_CHECKING:
    from pipeline.evaluation.speed import AnswerSpeed, SearchSpeed, Step
    from pipeline.ports import Progress

__all__ = ["bench"]


@click.command(help=console.tell("bench_help"))
@click.option(
    "--searches",
    type=click.IntRange(1, 10_000),
    default=200,
    show_default=True,
    help=console.tell("bench_option_searches"),
)
@click.option(
    "--answers",
    type=click.IntRange(0, 100),
    default=3,
    show_default=True,
    help=console.tell("bench_option_answers"),
)
@console.json_option
def bench(searches: int, answers: int, as_json: bool) -> None:
    """Measure, print."""
    from pipeline import bootstrap
    from pipeline.evaluation.speed import measure_answers, measure_search, questions_about
    from pipeline.stores import json_store

    settings = console.settings()
    chunks = json_store.load(settings.embeddings).chunks
    searched, asked = questions_about(chunks, searches), questions_about(chunks, answers)
    size = len(chunks)
    del chunks  # or the memory measured would hold the index twice
    service = bootstrap.create_service(settings)
    try:
        with console.progress_bars() as bars:
            started = time.perf_counter()
            service.start(wait=True, generator=False)
            ready_s = time.perf_counter() - started
            bar = bars.task(console.tell("bench_searching"), len(searched))
            search = measure_search(service, searched, _counted(bar, len(searched)))
            answer = None
            if asked and bootstrap.create_generator(settings) is not None:
                bar = bars.task(console.tell("bench_answering"), 2 * len(asked))
                answer = measure_answers(service, asked, _counted(bar, 2 * len(asked)))
    finally:
        service.close()
    if as_json:
        console.print_json(
            {
                "chunks": size,
                "ready_s": ready_s,
                "search": asdict(search),
                "answer": asdict(answer) if answer else None,
            }
        )
    else:
        _print(size, ready_s, search, answer)


def _counted(bar: Progress, total: int) -> Step:
    done = iter(range(1, total + 1))
    return lambda: bar(next(done), total)


def _print(size: int, ready_s: float, search: SearchSpeed, answer: AnswerSpeed | None) -> None:
    console.say("bench_index", chunks=size, seconds=f"{ready_s:.2f}")
    console.say(
        "bench_search",
        questions=search.questions,
        p50=f"{search.p50_ms:.1f}",
        p99=f"{search.p99_ms:.1f}",
        rerank=f"{search.stages_ms.get('late_interaction', 0.0):.1f}",
        memory=f"{search.memory_mb:.0f}",
    )
    if answer is None:
        console.say("bench_no_answers")
        return
    console.say(
        "bench_answer",
        answers=answer.answers,
        first=f"{answer.first_token_s:.2f}",
        whole=f"{answer.whole_s:.2f}",
        memory=f"{answer.memory_mb:.0f}",
    )
    if answer.same_source_s is not None:
        console.say("bench_again", seconds=f"{answer.same_source_s:.2f}")
    if answer.read_tokens_per_s and answer.written_tokens_per_s:
        console.say(
            "bench_tokens",
            read=f"{answer.read_tokens_per_s:.0f}",
            written=f"{answer.written_tokens_per_s:.1f}",
        )
