"""What ``otvet ask`` shows of a question over databases besides its answer; whether to run a statement."""

from __future__ import annotations

import click

from pipeline.cli import console
from pipeline.types import Clarification, Routed, TableView

__all__ = ["print_routed", "print_rows", "wants_to_run"]

_WIDEST = 40
_SHOWN = 20
_YES = frozenset({"y", "yes", "д", "да"})

Cell = str | int | float | bool | None


def print_routed(routed: Routed) -> None:
    """The rows where they say more than the sentence, the statement, the ways on of a question back."""
    if routed.table is not None and (len(routed.table.rows) > 1 or len(routed.table.columns) > 1):
        _print_table(routed.table)
    if routed.sql:
        click.echo(f"\n{console.tell('ask_statement', database=routed.database)} {routed.sql}")
    if routed.clarify is not None:
        _print_options(routed.clarify)


def wants_to_run() -> bool:
    """Whether the person at the terminal says yes; an empty line and the end of the input say no."""
    try:
        said = click.prompt(console.tell("ask_confirm"), default="", show_default=False)
    except click.Abort:
        click.echo("")
        return False
    return said.strip().casefold() in _YES


def print_rows(columns: tuple[str, ...], rows: tuple[tuple[Cell, ...], ...]) -> None:
    """Columns one below the other, each as wide as its widest cell, up to 40 characters."""
    lines = [columns, *(tuple(_cell(value) for value in row) for row in rows)]
    console.say_table([[cell[:_WIDEST] for cell in line] for line in lines], range(len(columns)))


def _print_table(table: TableView) -> None:
    click.echo("")
    print_rows(table.labels or table.columns, table.rows[:_SHOWN])
    if len(table.rows) > _SHOWN:
        click.echo(console.tell("ask_more_rows", count=len(table.rows) - _SHOWN))


def _print_options(clarify: Clarification) -> None:
    for option in clarify.options:
        route = f" --route {option.route}" if option.route else ""
        click.echo(f'  {option.label}: otvet ask{route} "{option.question}"')


def _cell(value: Cell) -> str:
    return "" if value is None else " ".join(str(value).split())
