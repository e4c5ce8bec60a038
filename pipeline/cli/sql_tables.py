"""``otvet sql tables``: what the declared databases hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pipeline.cli import console

if TYPE_CHECKING:
    from pipeline.sql.catalog import Column, Table

__all__ = ["tables"]

_VALUES_SHOWN = 5


@click.command(help=console.tell("sql_tables_help"))
@click.argument("database", default="")
@console.json_option
def tables(database: str, as_json: bool) -> None:
    """List tables and columns, and say where the user of a connection could write."""
    from dataclasses import asdict

    from pipeline import bootstrap
    from pipeline.sql.database import find_database

    databases = bootstrap.create_databases(console.settings())
    chosen = [find_database(databases, database)] if database else list(databases.values())
    if as_json:
        console.print_json([_fields(asdict(item.catalog()), item.copied_on) for item in chosen])
        return
    if not chosen:
        console.say("sql_none")
    for item in chosen:
        catalog = item.catalog()
        click.echo(f"{catalog.name} ({catalog.dialect})  {catalog.note}".rstrip())
        if item.copied_on:
            console.say("sql_copy_day", day=item.copied_on)
        if item.may_change:
            console.say("sql_may_change", tables=", ".join(item.may_change))
        for table in catalog.tables.values():
            _print(table)


def _fields(catalog: dict[str, Any], copied_on: str) -> dict[str, Any]:
    """What the catalog holds; of a copy also its day."""
    return {**catalog, "copied_on": copied_on} if copied_on else catalog


def _print(table: Table) -> None:
    console.say("sql_table", name=table.name, rows=table.rows, note=table.note)
    for column in table.columns:
        click.echo(f"    {column.name:<20} {column.kind:<9} {_words(column)}".rstrip())
    for link in table.foreign:
        click.echo(f"    {link.column} -> {link.table}.{link.target}")


def _words(column: Column) -> str:
    if column.note or not column.values:
        return column.note
    more = " …" if len(column.values) > _VALUES_SHOWN else ""
    return ", ".join(column.values[:_VALUES_SHOWN]) + more
