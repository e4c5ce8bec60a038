"""What ``otvet compare`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from pipeline.cli import console
from pipeline.messages import text

if TYPE_CHECKING:
    from pipeline.compare.history import Entry
    from pipeline.compare.question import Seen, SideBySide
    from pipeline.compare.sets import Compared
    from pipeline.evaluation.bootstrap import Figure

__all__ = ["say_history", "say_set", "say_side_by_side"]

SURE = 0.05
"""A difference less likely by chance than this is marked."""

_MARK = "*"
_LISTED = 10


def say_side_by_side(found: SideBySide) -> None:
    """A table of all ways, what each shares with each, and the sources of every one."""
    from pipeline.compare.question import overlap

    names = ("way", "sources", "overlap", "ms", "tokens", "saving", "refused")
    rows = [[console.tell(f"compare_column_{name}") for name in names]]
    for one in found.seen:
        rows.append(
            [
                one.way.name + (f" {_MARK}" if one.way == found.default else ""),
                str(len(one.hits)),
                f"{overlap(one.hits, found.usual.hits):.2f}",
                f"{one.total_ms:.1f}",
                str(one.tokens),
                f"{found.saving(one):.0%}",
                console.tell("eval_yes" if one.found.evidence.refused else "eval_no"),
            ]
        )
    console.say_table(rows)
    console.say("compare_default_mark", model=found.usual.found.counted_by)
    _say_overlaps(found)
    for one in found.seen:
        _say_sources(one)


def _say_overlaps(found: SideBySide) -> None:
    from pipeline.compare.question import overlap

    click.echo("")
    console.say("compare_overlaps")
    rows = [["", *(str(number) for number in range(1, len(found.seen) + 1))]]
    for number, one in enumerate(found.seen, start=1):
        shares = (f"{overlap(one.hits, other.hits):.2f}" for other in found.seen)
        rows.append([f"{number} {one.way.name}", *shares])
    console.say_table(rows)


def _say_sources(one: Seen) -> None:
    click.echo("")
    click.echo(click.style(one.way.name, bold=True))
    for key in one.found.retrieval.notes:
        click.echo(f"  {text('answers', key, console.language())}")
    for hit in one.hits[:_LISTED]:
        click.echo(f"  {hit.rank}. {hit.chunk.topic or hit.chunk.file}  {hit.chunk.file}")
    if len(one.hits) > _LISTED:
        console.say("compare_more", count=len(one.hits) - _LISTED)


def say_set(found: Compared, name: str, count: int) -> None:
    """A table of all ways over a set; what is surely different from the default is marked."""
    console.say("compare_set", name=name, count=count, kb_version=found.kb_version)
    names = ("way", "refused_wrongly", "refused_rightly", "tokens", "saving", "ms")
    way, wrongly, rightly, tokens, saving, ms = (console.tell(f"compare_column_{name}") for name in names)
    rows = [[way, "hit@1", "hit@3", "MRR", console.tell("compare_column_recall"), wrongly, rightly, tokens,
             saving, ms]]  # fmt: skip
    for one in found.summaries:
        sure = {name for name, change in one.against.items() if change.p < SURE}
        told = [
            _share(one.figures.get(name), mark=name in sure)
            for name in ("hit@1", "hit@3", "mrr", "recall", "refused_wrongly", "refused_rightly")
        ]
        rows.append(
            [
                one.way.name + (f" {_MARK}" if one.way == found.default else ""),
                *told,
                f"{one.figures['tokens'].value:.0f}",
                "—" if one.saving is None else f"{one.saving:.0%}",
                f"{one.figures['ms'].value:.1f}",
            ]
        )
    console.say_table(rows)
    console.say("compare_set_marks", model=found.counted_by)
    for left_out in found.left_out:
        console.say("compare_left_out", way=left_out.name)


def _share(figure: Figure | None, *, mark: bool) -> str:
    if figure is None:
        return "—"
    return f"{figure.value:.3f} [{figure.low:.3f} {figure.high:.3f}]{'!' if mark else ' '}"


def say_history(entries: Sequence[Entry], measure: str) -> None:
    """One measure of every way, a column for each run of the newest set."""
    from pipeline.compare.history import changes

    name = entries[-1].questions
    told = [entry for entry in entries if entry.questions == name and measure in entry.figures]
    runs = sorted({entry.when for entry in told})
    ways = list(dict.fromkeys(entry.way for entry in reversed(told)))
    values = {(entry.way, entry.when): entry.figures[measure][0] for entry in told}
    console.say("compare_history_of", measure=measure, name=name)
    rows = [[console.tell("compare_column_way"), *(when[5:16].replace("T", " ") for when in runs)]]
    for way in sorted(ways, key=lambda one: -values.get((one, runs[-1]), 0.0)):
        cells = (values.get((way, when)) for when in runs)
        rows.append([way.name, *("—" if value is None else f"{value:.3f}" for value in cells)])
    console.say_table(rows)
    for when, said in changes(told):
        click.echo(f"{when[5:16].replace('T', ' ')}  {said}")
