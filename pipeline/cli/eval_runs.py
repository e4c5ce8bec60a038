"""``otvet eval runs``: the runs that are kept."""

from __future__ import annotations

import click

from pipeline.cli import console

__all__ = ["runs"]


@click.command(help=console.tell("eval_runs_help"))
@console.json_option
def runs(as_json: bool) -> None:
    """List them, the oldest first."""
    from pipeline.evaluation.runs import folder_of_runs, runs_in

    found = runs_in(folder_of_runs(console.settings()))
    if as_json:
        console.print_json(
            [
                {
                    "name": run.name,
                    "folder": str(run.folder),
                    "started": run.started,
                    "finished": run.finished or None,
                    "questions": run.plan.questions,
                    "count": len(run.plan.keys),
                    "kb_version": run.plan.kb_version,
                    "answers": run.plan.answers,
                    "settings": run.plan.settings,
                }
                for run in found
            ]
        )
        return
    if not found:
        console.say("eval_runs_none")
    for run in found:
        state = run.finished[:19].replace("T", " ") or console.tell("eval_runs_unfinished")
        count = len(run.plan.keys)
        click.echo(f"{run.name}  {run.plan.questions} ({count})  {run.plan.kb_version}  {state}")
