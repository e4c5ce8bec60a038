"""``otvet sql demo``: a shop and a base of articles to try everything on."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli import console

__all__ = ["demo"]


@click.command(help=console.tell("sql_demo_help"))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def demo(folder: Path) -> None:
    """Make a home folder with both databases in its knowledge base."""
    from pipeline.sql.demo.make import make_demo

    for path in make_demo(folder / "knowledge_base"):
        click.echo(f"  {path}")
    console.say("sql_demo_next", home=folder)
