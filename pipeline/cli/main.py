"""``otvet``: the group of all commands, each loaded only when it runs."""

from __future__ import annotations

import importlib
import io
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
    "store",
    "ask",
    "search",
    "models",
    "tune",
    "tokens",
    "map",
    "eval",
    "compare",
    "sql",
    "bench",
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

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # The language may have been given on this very line, after these texts were first read.
        self.help = console.tell("main_help")
        for parameter in self.params:
            if isinstance(parameter, click.Option) and parameter.name in _SETTINGS:
                parameter.help = console.tell(f"option_{parameter.name}")
        super().format_help(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # Short helps come from the texts, so that listing commands imports none of them.
        rows = [(name, console.tell(f"{name}_help")) for name in COMMANDS]
        with formatter.section(console.tell("commands_heading")):
            formatter.write_dl(rows)


_SETTINGS = {
    "home": click.Path(file_okay=False),
    "models": click.Path(file_okay=False),
    "profile": click.Choice(["auto", "embedded", "reference", "search"]),
    "language": click.Choice(["ru", "en"]),
}


def _remember(_: click.Context, parameter: click.Parameter, value: str | None) -> None:
    console.override({str(parameter.name): value})


def _setting_options(command: console.CommandFunction) -> console.CommandFunction:
    for name, kind in reversed(list(_SETTINGS.items())):
        # Eager: the command is imported, with its texts, before the group itself runs.
        option = click.option(f"--{name}", type=kind, is_eager=True, expose_value=False, callback=_remember)
        command = option(command)
    return command


@click.group(cls=_LazyGroup)
@click.version_option(__version__, prog_name="otvet")
@_setting_options
def cli() -> None:
    """All that `otvet` does; the settings given before the command are remembered as they are read."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every error becomes a message, a hint and a documented exit code."""
    _write_what_fits()
    try:
        # Without its standalone mode click returns the code that a command ended with.
        code = cli.main(args=arguments, prog_name="otvet", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo(console.tell("interrupted"), err=True)
        sys.exit(console.EXIT_CODES[KeyboardInterrupt])
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except OtvetError as error:
        console.report(error)
        sys.exit(console.exit_code(error))
    except OSError as error:  # a full disk, a folder that may not be written
        where = error.filename or ""
        console.say("system_refused", err=True, reason=error.strerror or str(error), path=where)
        sys.exit(1)
    if isinstance(code, int) and code:
        sys.exit(code)


def _write_what_fits() -> None:
    """A file or an old console in a code page without «✓» shows a question mark instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
