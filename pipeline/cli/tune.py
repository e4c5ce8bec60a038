"""``otvet tune``: measure how the models run fastest on this machine, and keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.cli import console

if TYPE_CHECKING:
    from pipeline.evaluation.tune import TuneReport
    from pipeline.models.tuned import TunedEncoder, TunedGenerator, Tuning

__all__ = ["tune", "tuned_lines"]


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
    for line in tuned_lines(report.tuning):
        click.echo(line)


def tuned_lines(tuning: Tuning | None) -> list[str]:
    """What was measured on this machine, a line a model."""
    lines = []
    if tuning is not None and tuning.generator is not None:
        lines.append(_generator_line(tuning.generator))
        if not tuning.generator.defaults_run:
            lines.append(console.tell("tune_defaults_fail"))
    if tuning is not None and tuning.encoder is not None:
        lines.append(_encoder_line(tuning.encoder))
    return lines


def _generator_line(tuned: TunedGenerator) -> str:
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


def _encoder_line(tuned: TunedEncoder) -> str:
    return console.tell("tune_encoder", model=tuned.model, threads=tuned.threads, gain=f"{tuned.gain:.2f}")
