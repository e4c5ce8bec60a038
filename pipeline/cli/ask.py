"""``otvet ask`` and what ``otvet search`` shares with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pipeline.cli import console
from pipeline.cli.ask_routed import print_routed, wants_to_run
from pipeline.cli.filters import filter_options
from pipeline.types import AskRequest, Failed, Filter, Finished, Reply, Retrieved, Route, Token

if TYPE_CHECKING:
    from pipeline.ports import Service

__all__ = ["ask", "print_sources", "run"]


@click.command(help=console.tell("ask_help"), context_settings={"ignore_unknown_options": True})
@click.argument("question", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--sources-only", is_flag=True, help=console.tell("ask_option_sources"))
@click.option(
    "--route", type=click.Choice(["sql", "search", "hybrid"]), help=console.tell("ask_option_route")
)
@filter_options
@console.json_option
def ask(
    question: tuple[str, ...], sources_only: bool, route: Route | None, wanted: Filter | None, as_json: bool
) -> None:
    """Answer a question from the knowledge base."""
    request = AskRequest(
        question=" ".join(question),
        use_rag=not sources_only,
        filter=wanted,
        language=console.language(),
        route=route,
    )
    run(request, as_json=as_json)


def run(request: AskRequest, *, as_json: bool) -> None:
    """Carry out one request in this process and print what comes.

    Raises:
        OtvetError: As from the service.
    """
    from pipeline import bootstrap
    from pipeline.web.replies import render

    settings = console.settings()
    service = bootstrap.create_service(settings)
    try:
        service.start(wait=True, generator=request.use_rag)
        reply = _carried_out(service, request, as_json=as_json)
        if as_json:
            base, language = settings.server.address, request.language
            console.print_json(render(reply, base_url=base, style="text", language=language))
            return
        _print_end(reply, streamed=request.use_rag)
        if reply.routed is not None and reply.routed.confirm is not None and wants_to_run():
            confirmed = replace(request, confirmed=reply.routed.confirm.id)
            _print_end(_carried_out(service, confirmed, as_json=False), streamed=True)
    finally:
        service.close()


def _carried_out(service: Service, request: AskRequest, *, as_json: bool) -> Reply:
    """The reply; sources and draft are printed as they come."""
    drafted = False
    for event in service.stream(request, lambda: False):
        match event:
            case Retrieved(reply) if not as_json and request.use_rag:
                print_sources(reply)
            case Token(text) if not as_json:
                drafted = True
                click.echo(text, nl=False)
            case Failed(error):
                raise error
            case Finished(reply):
                click.echo("\n\n" if drafted else "", nl=False)
                return reply
    raise RuntimeError("a request has ended without a reply")


def print_sources(reply: Reply) -> None:
    """The sources with their best part, as a numbered list."""
    for source in reply.sources:
        place = source.link or source.file
        click.echo(click.style(f"[{source.n}] {source.title}", bold=True) + f"  {place}")
        click.echo(f"    {source.quote}")
        for stage in source.stages or ():
            click.echo(f"    {stage.name}: {stage.score:.4f} (#{stage.rank})")
    if reply.sources:
        click.echo("")


def _print_end(reply: Reply, *, streamed: bool) -> None:
    if not streamed:
        print_sources(reply)
    # What streamed was a draft; the checked answer is what counts.
    click.echo(click.style(reply.answer.text, bold=streamed))
    if reply.routed is not None:
        print_routed(reply.routed)
    if "-t" in reply.flags:
        for stage, milliseconds in reply.timings_ms.items():
            click.echo(f"    {stage}: {milliseconds:.1f} ms")
    for note in reply.notes:
        click.echo(note, err=True)
