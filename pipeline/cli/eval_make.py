"""``otvet eval make`` and what is done with the drafts: known questions out of the knowledge base itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pipeline.cli import console

if TYPE_CHECKING:
    from pipeline.library.drafts import Draft, DraftBook

__all__ = ["COMMANDS"]


@click.command("make", help=console.tell("eval_make_help"))
@click.option(
    "--count",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help=console.tell("eval_make_count"),
)
@click.option(
    "--foreign",
    type=click.IntRange(0, 100),
    default=5,
    show_default=True,
    help=console.tell("eval_make_foreign"),
)
@click.option("--no-model", is_flag=True, help=console.tell("eval_make_no_model"))
@console.json_option
def make(count: int, foreign: int, no_model: bool, as_json: bool) -> None:
    """Make drafts."""
    from pipeline import bootstrap
    from pipeline.library.drafter import Wanted

    settings = console.settings()
    service = bootstrap.create_service(settings)
    try:
        service.start(wait=True, generator=not no_model)
        with console.progress_bars() as bars:
            bar = bars.task(console.tell("eval_make_bar"), count)
            library = bootstrap.create_library(settings, service)
            made = library.drafter.make(Wanted(count, foreign, model=not no_model), bar)
    finally:
        service.close()
    if as_json:
        console.print_json([asdict(draft) for draft in made])
        return
    _show(made)
    console.say("eval_made", count=len(made), path=settings.home / "questions.drafts.jsonl")


@click.command("drafts", help=console.tell("eval_drafts_help"))
@console.json_option
def drafts(as_json: bool) -> None:
    """Show them."""
    book = _book()
    waiting = [draft for draft in book.all() if not draft.dropped]
    if as_json:
        console.print_json([asdict(draft) for draft in waiting])
        return
    _show(waiting)
    console.say("eval_drafts", count=len(waiting), accepted=len(book.accepted()), path=book.questions)


@click.command("accept", help=console.tell("eval_accept_help"))
@click.argument("ids", nargs=-1)
@click.option("--all", "everything", is_flag=True, help=console.tell("eval_accept_all"))
@click.option("--question", help=console.tell("eval_accept_question"))
@click.option("--answer", "answers", multiple=True, help=console.tell("eval_accept_answer"))
def accept(ids: Sequence[str], everything: bool, question: str | None, answers: Sequence[str]) -> None:
    """Make known questions of them."""
    if bool(ids) == everything or (len(ids) != 1 and (question or answers)):
        raise click.UsageError(console.tell("eval_accept_which"))
    book = _book()
    for draft_id in [draft.id for draft in book.all() if not draft.dropped] if everything else ids:
        done = book.accept(draft_id, question, answers or None)
        console.say("eval_accepted", id=done.id, question=done.question)
    console.say("eval_known", count=len(book.accepted()), path=book.questions)


@click.command("drop", help=console.tell("eval_drop_help"))
@click.argument("ids", nargs=-1, required=True)
def drop(ids: Sequence[str]) -> None:
    """Take them out."""
    book = _book()
    for draft_id in ids:
        console.say("eval_dropped", id=draft_id, question=book.drop(draft_id).question)


@click.command("restore", help=console.tell("eval_restore_help"))
@click.argument("ids", nargs=-1, required=True)
def restore(ids: Sequence[str]) -> None:
    """Bring them back."""
    book = _book()
    for draft_id in ids:
        console.say("eval_restored", id=draft_id, question=book.restore(draft_id).question)


COMMANDS = (make, drafts, accept, drop, restore)
"""What `pipeline.cli.eval` adds to its group."""


def _book() -> DraftBook:
    from pipeline.library.drafts import DraftBook

    return DraftBook(console.settings().home)


def _show(found: Sequence[Draft]) -> None:
    for draft in found:
        where = ", ".join(draft.files) or console.tell("eval_no_answer")
        click.echo(f"{draft.id}  {draft.question}")
        made = console.tell(f"eval_by_{draft.made}")
        answers = f"; {' | '.join(draft.answer_any)}" if draft.answer_any else ""
        click.echo(f"    {where}; {made}{answers}")
