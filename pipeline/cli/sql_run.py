"""``otvet sql run``: one statement, checked and run as a question's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.cli import console

if TYPE_CHECKING:
    from pipeline.sql.runner import ResultTable, Value

__all__ = ["run"]

_WIDEST = 40


@click.command(help=console.tell("sql_run_help"))
@click.argument("statement")
@click.option("--database", default="", help=console.tell("sql_option_database"))
@click.option(
    "--csv", "file", type=click.Path(dir_okay=False, path_type=Path), help=console.tell("sql_option_csv")
)
@console.json_option
def run(statement: str, database: str, file: Path | None, as_json: bool) -> None:
    """Check a statement, say what it does, run it, print the rows."""
    from pipeline import bootstrap
    from pipeline.sql.database import find_database
    from pipeline.sql.explanation import explain_statement
    from pipeline.sql.sentence import sentence_of
    from pipeline.sql.table_file import csv_bytes

    chosen = find_database(bootstrap.create_databases(console.settings()), database)
    guarded = chosen.check(statement)
    result = chosen.run(guarded)
    told = sentence_of(guarded, result, chosen.catalog(), console.language())
    if file is not None:
        file.write_bytes(csv_bytes(result, console.language()))
    if as_json:
        found = {"columns": result.columns, "kinds": result.kinds, "rows": result.rows}
        more = {"truncated": result.truncated, "ms": result.ms, "sentence": told}
        console.print_json({"sql": guarded.sql, **found, **more})
        return
    click.echo(guarded.sql)
    click.echo(explain_statement(guarded, chosen.catalog(), console.language()))
    _print_rows(result)
    click.echo(told)


def _print_rows(result: ResultTable) -> None:
    rows = [result.columns, *([_cell(value) for value in row] for row in result.rows)]
    widths = [min(_WIDEST, max(len(row[place]) for row in rows)) for place in range(len(result.columns))]
    for row in rows:
        cells = (cell[:width].ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _cell(value: Value) -> str:
    return "" if value is None else " ".join(str(value).split())
