"""``otvet tokens``: the size of every block in the embedder's own tokens."""

from __future__ import annotations

import click

from pipeline.cli import console

__all__ = ["tokens"]


@click.command(help=console.tell("tokens_help"))
@click.option("--large-only", is_flag=True, help=console.tell("tokens_option_large"))
@console.json_option
def tokens(large_only: bool, as_json: bool) -> None:
    """Print the token count of every block."""
    from pipeline import bootstrap

    rows = [row for row in bootstrap.block_sizes(console.settings()) if row.large or not large_only]
    if as_json:
        console.print_json(
            [{"file": row.file, "topic": row.topic, "tokens": row.tokens, "large": row.large} for row in rows]
        )
        return
    for row in rows:
        flag = console.tell("tokens_flag") if row.large else ""
        click.echo(f"{row.tokens:>7}  {row.file}: {row.topic}  {flag}".rstrip())
    large = sum(row.large for row in rows)
    limit = console.settings().index.large_block_tokens
    console.say("tokens_total", blocks=len(rows), large=large, limit=limit)
