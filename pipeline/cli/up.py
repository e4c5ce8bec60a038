"""``otvet up``: models, index, server, each only as far as it is missing."""

from __future__ import annotations

import subprocess
import sys

import click

from pipeline.cli import console
from pipeline.cli.serve import choose_server, run_server, server_options

__all__ = ["up"]


@click.command(help=console.tell("up_help"))
@server_options
@click.option("--accept-license", is_flag=True, help=console.tell("models_option_accept"))
def up(
    server: str | None, host: str | None, port: int | None, token: str | None, accept_license: bool
) -> None:
    """Install what is missing, index what is new, then serve."""
    choose_server(server, host, port, token)
    # Converting and indexing leave memory behind that a small machine needs for the language model:
    # each runs in a process of its own.
    consent = ["--accept-license"] if accept_license else []
    _run("models", "install", *consent)
    knowledge_base = console.settings().knowledge_base
    if not knowledge_base.is_dir():
        knowledge_base.mkdir(parents=True)
        console.say("up_new_knowledge_base", path=knowledge_base)
    _run("index")
    run_server()


def _run(*command: str) -> None:
    """Run one command of ours in a child process; its failure ends this one with the same exit code."""
    # -P: "pipeline" is a name that other people's folders have too.
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pipeline.cli", *console.given_options(), *command], check=False
    )
    if done.returncode != 0:
        sys.exit(done.returncode)
