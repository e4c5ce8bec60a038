"""``otvet doctor``: what is installed, where, what fits, and what to run next."""

from __future__ import annotations

import click

from pipeline.cli import console

__all__ = ["doctor"]

_SIGNS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "problem": ("✗", "red")}


_SHOWN_ITEMS = 10


@click.command(help=console.tell("doctor_help"))
@click.option("--quick", is_flag=True, help=console.tell("doctor_option_quick"))
@console.json_option
@click.pass_context
def doctor(context: click.Context, quick: bool, as_json: bool) -> None:
    """Print the checks; exit code 1 when one of them found a problem."""
    from pipeline.diagnosis import diagnose

    with console.progress_bars() as bars:
        bar = None if quick else bars.task(console.tell("doctor_checking"))
        findings = diagnose(console.loaded_settings(), console.language(), quick=quick, progress=bar)
    if as_json:
        console.print_json(
            [
                {
                    "check": found.check,
                    "state": found.state,
                    "detail": found.detail,
                    "next": found.next_step,
                    "items": found.items,
                }
                for found in findings
            ]
        )
    else:
        for finding in findings:
            sign, colour = _SIGNS[finding.state]
            click.echo(f"{click.style(sign, fg=colour)} {finding.check}: {finding.detail}")
            for item in finding.items[:_SHOWN_ITEMS]:
                click.echo(f"    {item}")
            if len(finding.items) > _SHOWN_ITEMS:
                click.echo(f"    … (+{len(finding.items) - _SHOWN_ITEMS})")
            if finding.next_step:
                click.echo(f"    → {finding.next_step}")
    if any(finding.state == "problem" for finding in findings):
        context.exit(1)
