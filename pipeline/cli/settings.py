"""``otvet settings``: every setting in force and where it comes from, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping

import click

from pipeline.cli import console
from pipeline.cli.tune import tuned_lines
from pipeline.models.tuned import read_tuning

__all__ = ["settings"]


def _lookup(values: object, key: str) -> object:
    for part in key.split("."):
        values = values[part] if isinstance(values, Mapping) else getattr(values, part)
    return values


@click.command(help=console.tell("settings_help"))
@console.json_option
def settings(as_json: bool) -> None:
    """Print the settings."""
    loaded = console.loaded_settings()
    rows = {
        key: {"value": _lookup(loaded.settings, key), "origin": origin}
        for key, origin in loaded.origins.items()
    }
    if as_json:
        console.print_json(rows)
        return
    width = max(map(len, rows))
    for key, row in rows.items():
        click.echo(f"{key:<{width}}  {row['value']}  ({console.tell('origin_' + str(row['origin']))})")
    for line in tuned_lines(read_tuning(loaded.settings.models)):
        click.echo(line)
