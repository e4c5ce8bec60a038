"""``otvet sql``: databases that ``sources.toml`` declares."""

from __future__ import annotations

import click

from pipeline.cli import console
from pipeline.cli.sql_compare import compare, costs
from pipeline.cli.sql_demo import demo
from pipeline.cli.sql_run import run
from pipeline.cli.sql_tables import tables

__all__ = ["sql"]


@click.group(help=console.tell("sql_help"))
def sql() -> None:
    """What databases hold, statements over them, and a demo."""


sql.add_command(tables)
sql.add_command(run)
sql.add_command(compare)
sql.add_command(costs)
sql.add_command(demo)
