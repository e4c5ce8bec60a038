"""``otvet eval``: known questions, asked and made."""

from __future__ import annotations

import click

from pipeline.cli import console
from pipeline.cli.default_group import DefaultGroup
from pipeline.cli.eval_make import COMMANDS
from pipeline.cli.eval_report import report
from pipeline.cli.eval_run import run
from pipeline.cli.eval_runs import runs

__all__ = ["eval"]


@click.group(cls=DefaultGroup, help=console.tell("eval_group_help"))
def eval() -> None:  # noqa: A001
    """Ask known questions; make such questions (`pipeline.cli.eval_make`)."""


eval.add_command(run)
eval.add_command(runs)
eval.add_command(report)
for command in COMMANDS:
    eval.add_command(command)
