"""Tables of an evaluation on the terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import click

from pipeline.cli import console

if TYPE_CHECKING:
    from pipeline.evaluation.records import Record

__all__ = ["say_misses", "say_table"]

_SHOWN_MISSES = 20


def say_table(rows: Sequence[Sequence[str]], words: Collection[int] = ()) -> None:
    """Rows in columns, names and words at the left, numbers at the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if not place or place in words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        click.echo("  ".join(cells).rstrip())


def say_misses(records: Sequence[Record]) -> None:
    """The questions whose first source is not the right one."""
    missed = [one for one in records if one.question.is_answerable and one.ranking.rank != 1]
    if missed:
        console.say("eval_misses", count=len(missed))
    for record in missed[:_SHOWN_MISSES]:
        found = record.files[0] if record.files else "—"
        rank = record.ranking.rank or "—"
        line, text = record.question.line, record.question.text
        console.say("eval_miss", line=line, question=text, rank=rank, file=found)
