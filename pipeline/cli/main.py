"""``otvet``: the group of all commands, each loaded only when it runs."""

from __future__ import annotations

import importlib
import sys

import click

from pipeline import __version__
from pipeline.cli import console
from pipeline.errors import OtvetError

__all__ = ["COMMANDS", "cli", "main"]

COMMANDS = (
    "up",
    "serve",
    "index",
    "ask",
    "search",
    "models",
    "tokens",
    "settings",
    "doctor",
)
"""Every command lives in ``pipeline/cli/<name>.py`` as a click command of the same name."""


class _LazyGroup(click.Group):
    """Imports a command's module only when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"pipeline.cli.{cmd_name}")
        command = getattr(module, cmd_name)
        if not isinstance(command, click.Command):
            raise TypeError(f"pipeline.cli.{cmd_name}.{cmd_name} is not a command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # Short helps come from the texts, so that listing commands imports none of them.
        rows = [(name, console.tell(f"{name}_help")) for name in COMMANDS]
        with formatter.section(console.tell("commands_heading")):
            formatter.write_dl(rows)


@click.group(cls=_LazyGroup, help=console.tell("main_help"))
@click.version_option(__version__, prog_name="otvet")
@click.option("--home", type=click.Path(file_okay=False), help=console.tell("option_home"))
@click.option("--models", type=click.Path(file_okay=False), help=console.tell("option_models"))
@click.option(
    "--profile",
    type=click.Choice(["auto", "embedded", "reference", "search"]),
    help=console.tell("option_profile"),
)
@click.option("--language", type=click.Choice(["ru", "en"]), help=console.tell("option_language"))
def cli(**options: str | None) -> None:
    """Remember the settings given before the command."""
    console.override(options)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every error becomes a message, a hint and a documented exit code."""
    try:
        cli.main(args=arguments, prog_name="otvet", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo(console.tell("interrupted"), err=True)
        sys.exit(console.EXIT_CODES[KeyboardInterrupt])
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except OtvetError as error:
        console.report(error)
        sys.exit(console.exit_code(error))
