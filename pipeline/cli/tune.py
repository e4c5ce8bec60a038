"""``otvet tune``: measure how the models run fastest on this machine, and keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.cli import console

if TYPE_CHECKING:
    from pipeline.evaluation.tune import TuneReport
    from pipeline.models.tuned import TunedEncoder, TunedGenerator

__all__ = ["tune"]


@click.command(help=console.tell("tune_help"))
@click.option(
    "--seconds",
    type=click.FloatRange(5, 600),
    default=50,
    show_default=True,
    help=console.tell("tune_option_seconds"),
)
@console.json_option
def tune(seconds: float, as_json: bool) -> None:
    """Measure, store, print."""
    from dataclasses import asdict

    from pipeline.evaluation.tune import tune as run

    with console.progress_bars() as bars:
        bar = bars.task(console.tell("tune_running"), None)
        steps = iter(range(1, 1000))

        def step(way: str) -> None:
            bar(next(steps), 0)
            bars.bars.console.print(way, style="dim", highlight=False)

        report = run(console.settings(), step, seconds=seconds)
    if as_json:
        tried = [asdict(way) for way in report.tried]
        console.print_json(
            {**report.tuning.model_dump(mode="json"), "tried": tried, "seconds": round(report.seconds, 1)}
        )
    else:
        _print(report)


def _print(report: TuneReport) -> None:
    console.say("tune_done", seconds=f"{report.seconds:.0f}", ways=len(report.tried))
    if report.tuning.generator is not None:
        click.echo(describe_generator(report.tuning.generator))
        if not report.tuning.generator.defaults_run:
            console.say("tune_defaults_fail")
    if report.tuning.encoder is not None:
        click.echo(describe_encoder(report.tuning.encoder))


def describe_generator(tuned: TunedGenerator) -> str:
    """One line on how the language model runs."""
    own = tuned.options
    return console.tell(
        "tune_generator",
        model=tuned.model,
        threads=tuned.threads,
        repack=console.tell("tune_on" if own.get("repack") else "tune_off"),
        flash=console.tell("tune_on" if own.get("flash_attention") else "tune_off"),
        mmap=console.tell("tune_on" if own.get("use_mmap") else "tune_off"),
        batch=f"{own.get('n_batch')}/{own.get('n_ubatch')}",
        gain=f"{tuned.gain:.2f}",
    )


def describe_encoder(tuned: TunedEncoder) -> str:
    """One line on how the embedder runs."""
    return console.tell("tune_encoder", model=tuned.model, threads=tuned.threads, gain=f"{tuned.gain:.2f}")
