"""``otvet eval report``: a run that is kept, told again and compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from pipeline.cli import console
from pipeline.cli.eval_output import Done, say, write
from pipeline.cli.eval_output import as_json as to_json

__all__ = ["report"]


@click.command("report", help=console.tell("eval_report_help"))
@click.argument("run")
@click.option("--baseline", default="", metavar="RUN", help=console.tell("eval_option_compare"))
@click.option(
    "--report",
    "reports",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help=console.tell("eval_option_report"),
)
@console.json_option
def report(run: str, baseline: str, reports: Sequence[Path], as_json: bool) -> None:
    """Count again, ask nothing."""
    from pipeline.evaluation.report_tables import Report
    from pipeline.evaluation.runs import find_run, folder_of_runs

    root = folder_of_runs(console.settings())
    found = find_run(root, run)
    other = find_run(root, baseline, before=found) if baseline else None
    done = Done("", None, [], Report(found, console.language(), other))
    write(done, reports)
    if as_json:
        console.print_json(to_json(done))
    else:
        say([done])
