"""Options that say which documents to look in, shared by the commands that search."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from pipeline.cli import console
from pipeline.types import Filter

__all__ = ["filter_options"]


def filter_options(command: console.CommandFunction) -> console.CommandFunction:
    """The options of a filter, passed on as ``wanted``; None where none of them is given."""

    @wraps(command)
    def filtered(
        *rest: object,
        source_types: tuple[str, ...],
        tags: tuple[str, ...],
        path_prefix: str,
        metadata: tuple[str, ...],
        since: str,
        until: str,
        **given: object,
    ) -> object:
        wanted = Filter(source_types, tags, path_prefix, _metadata(metadata), since, until)
        return command(*rest, wanted=None if wanted == Filter() else wanted, **given)

    options: tuple[Callable[..., Any], ...] = (
        click.option("--type", "source_types", multiple=True, help=console.tell("filter_option_type")),
        click.option("--tag", "tags", multiple=True, help=console.tell("filter_option_tag")),
        click.option("--path", "path_prefix", default="", help=console.tell("filter_option_path")),
        click.option(
            "--meta",
            "metadata",
            multiple=True,
            metavar="KEY=VALUE",
            help=console.tell("filter_option_meta"),
        ),
        click.option(
            "--since", default="", metavar="DATE", callback=_date, help=console.tell("filter_option_since")
        ),
        click.option(
            "--until", default="", metavar="DATE", callback=_date, help=console.tell("filter_option_until")
        ),
    )
    for option in reversed(options):
        filtered = option(filtered)
    return filtered


def _metadata(pairs: tuple[str, ...]) -> dict[str, str | tuple[str, ...]]:
    """Values by key; a key given several times is met by any one of its values."""
    found: dict[str, list[str]] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise click.UsageError(console.tell("filter_meta_form", given=pair))
        found.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in found.items()}


def _date(_context: click.Context, _option: click.Parameter, value: str) -> str:
    from pipeline.text.document_dates import first_day

    if value and not first_day(value):
        raise click.UsageError(console.tell("filter_date_form", given=value))
    return value
