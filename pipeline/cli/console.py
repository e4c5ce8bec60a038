"""What every command shares: the language, printing texts, progress bars, settings and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from pipeline import errors
from pipeline.messages import text
from pipeline.ports import Progress
from pipeline.settings import Loaded, Settings, load_settings
from pipeline.types import Language

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

__all__ = [
    "EXIT_CODES",
    "CommandFunction",
    "ProgressBars",
    "exit_code",
    "given_options",
    "json_option",
    "language",
    "loaded_settings",
    "override",
    "print_json",
    "progress_bars",
    "say",
    "say_table",
    "settings",
    "tell",
]

EXIT_CODES: Mapping[type[BaseException], int] = {
    errors.SettingsError: 3,
    errors.IndexUnusableError: 4,
    errors.ModelError: 5,
    errors.ExtraMissingError: 5,
    errors.BusyError: 6,
    errors.NotReadyError: 6,
    errors.RemoteError: 6,
    errors.RequestError: 7,
    errors.QualityError: 8,
    errors.OtvetError: 1,
    KeyboardInterrupt: 130,
}
"""Error class -> exit code; 0 is success and 2 a wrong command line."""

CommandFunction = Callable[..., Any]
"""A function on its way to becoming a command."""

_overrides: dict[str, Any] = {}


def override(values: Mapping[str, Any]) -> None:
    """Remember settings given on the command line; they win over every other source."""
    _overrides.update({key: value for key, value in values.items() if value is not None})


def given_options() -> list[str]:
    """The options given before the command, for a child process that shall have the same settings."""
    return [part for key, value in _overrides.items() if "." not in key for part in (f"--{key}", str(value))]


def loaded_settings() -> Loaded:
    """Settings with their origins.

    Raises:
        SettingsError: A key is unknown or a value is wrong.
    """
    return load_settings(_overrides)


def settings() -> Settings:
    """The settings in force for this command."""
    return loaded_settings().settings


def language() -> Language:
    """The language of the command line; Russian when the settings cannot be read."""
    try:
        return settings().language
    except errors.SettingsError:
        return "ru"  # the command itself will report the settings error


def tell(key: str, **values: object) -> str:
    """One text of the command line."""
    return text("cli", key, language(), "", **values)


def say(key: str, *, err: bool = False, **values: object) -> None:
    """Print one text of the command line."""
    click.echo(tell(key, **values), err=err)


def say_table(rows: Sequence[Sequence[str]], words: Collection[int] = ()) -> None:
    """Print rows in columns: the first one and those of ``words`` at the left, numbers at the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if not place or place in words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        click.echo("  ".join(cells).rstrip())


def print_json(value: object) -> None:
    """Print a value as indented JSON, Cyrillic as it is."""
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
    sys.stdout.buffer.write(orjson.dumps(value, default=str, option=options) + b"\n")
    sys.stdout.buffer.flush()


def json_option(command: CommandFunction) -> CommandFunction:
    """The option ``--json``, passed on as ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help=tell("option_json"))(command)


def exit_code(error: BaseException) -> int:
    """The documented exit code of an error: that of its nearest listed class."""
    for kind in type(error).__mro__:
        if kind in EXIT_CODES:
            return EXIT_CODES[kind]
    return 1


@dataclass(frozen=True, slots=True)
class ProgressBars:
    """Progress bars on the terminal; each task is a bar."""

    bars: Bars

    def task(self, description: str, total: int | None = None) -> Progress:
        """A new bar; call the result with (done, total)."""
        task_id = self.bars.add_task(description, total=total)
        return lambda done, total: self.bars.update(task_id, completed=done, total=total)


@contextmanager
def progress_bars() -> Iterator[ProgressBars]:
    """Progress bars on standard error, plain lines of start and end when it is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        yield ProgressBars(bars)


def report(error: errors.OtvetError) -> None:
    """Print an error with its hint on standard error."""
    spoken = language()
    click.echo(click.style(error.message(spoken), fg="red"), err=True)
    click.echo(error.hint(spoken), err=True)
