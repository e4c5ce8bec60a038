"""``otvet search``: sources without an answer."""

from __future__ import annotations

import click

from pipeline.cli import console
from pipeline.cli.ask import run
from pipeline.cli.filters import filter_options
from pipeline.types import AskRequest, Filter

__all__ = ["search"]


@click.command(help=console.tell("search_help"), context_settings={"ignore_unknown_options": True})
@click.argument("question", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--top-k",
    type=click.IntRange(1, 20),
    default=3,
    show_default=True,
    help=console.tell("search_option_top_k"),
)
@filter_options
@console.json_option
def search(question: tuple[str, ...], top_k: int, wanted: Filter | None, as_json: bool) -> None:
    """Find sources."""
    request = AskRequest(question=" ".join(question), top_k=top_k, filter=wanted, language=console.language())
    run(request, as_json=as_json)
