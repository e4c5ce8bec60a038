"""``otvet doctor``: what is installed, where, what fits, and what to run next."""

from __future__ import annotations

import click

from pipeline.cli import console

__all__ = ["doctor"]

_SIGNS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "problem": ("✗", "red")}


@click.command(help=console.tell("doctor_help"))
@console.json_option
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Print the checks; exit code 1 when one of them found a problem."""
    from pipeline.diagnosis import diagnose

    findings = diagnose(console.loaded_settings(), console.language())
    if as_json:
        console.print_json(
            [{"check": f.check, "state": f.state, "detail": f.detail, "next": f.next_step} for f in findings]
        )
    else:
        for finding in findings:
            sign, colour = _SIGNS[finding.state]
            click.echo(f"{click.style(sign, fg=colour)} {finding.check}: {finding.detail}")
            if finding.next_step:
                click.echo(f"    → {finding.next_step}")
    if any(finding.state == "problem" for finding in findings):
        context.exit(1)
