"""A group of commands of which one is meant where none is named."""

import click
import pytest
from click.testing import CliRunner

from pipeline.cli.default_group import DefaultGroup


@click.group(cls=DefaultGroup)
def group() -> None:
    pass


@group.command()
@click.argument("file")
@click.option("--many", type=int, default=1)
def run(file: str, many: int) -> None:
    click.echo(f"run {file} {many}")


@group.command()
def make() -> None:
    click.echo("make")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["a.jsonl"], "run a.jsonl 1"),
        (["--many", "2", "a.jsonl"], "run a.jsonl 2"),
        (["run", "a.jsonl"], "run a.jsonl 1"),
        (["./make"], "run ./make 1"),
        (["make"], "make"),
    ],
)
def test_which_command_is_meant(line, told) -> None:
    assert CliRunner().invoke(group, line).output.strip() == told


def test_help_is_that_of_the_group_and_nothing_is_a_wrong_command_line() -> None:
    assert "Commands:" in CliRunner().invoke(group, ["--help"]).output
    assert CliRunner().invoke(group, []).exit_code == 2
