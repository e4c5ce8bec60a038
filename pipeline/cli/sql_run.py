"""``otvet sql run``: one statement, checked and run as a question's own."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli import console
from pipeline.cli.ask_routed import print_rows

__all__ = ["run"]


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

    databases = bootstrap.create_databases(console.settings())
    if not database and len(databases) > 1:
        raise click.UsageError(console.tell("sql_run_which", known=", ".join(sorted(databases))))
    chosen = find_database(databases, database)
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
    print_rows(tuple(result.columns), tuple(map(tuple, result.rows)))
    click.echo(told)
