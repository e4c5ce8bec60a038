"""``otvet ask`` and what ``otvet search`` shares with it."""

from __future__ import annotations

import click

from pipeline.cli import console
from pipeline.cli.filters import filter_options
from pipeline.types import AskRequest, Failed, Filter, Finished, Reply, Retrieved, Token

__all__ = ["ask", "print_sources", "run"]


@click.command(help=console.tell("ask_help"), context_settings={"ignore_unknown_options": True})
@click.argument("question", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--sources-only", is_flag=True, help=console.tell("ask_option_sources"))
@filter_options
@console.json_option
def ask(question: tuple[str, ...], sources_only: bool, wanted: Filter | None, as_json: bool) -> None:
    """Answer a question from the knowledge base."""
    request = AskRequest(
        question=" ".join(question), use_rag=not sources_only, filter=wanted, language=console.language()
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
        for event in service.stream(request, lambda: False):
            match event:
                case Retrieved(reply) if not as_json and request.use_rag:
                    print_sources(reply)
                case Token(text) if not as_json:
                    click.echo(text, nl=False)
                case Failed(error):
                    raise error
                case Finished(reply):
                    if as_json:
                        base, language = settings.server.address, request.language
                        console.print_json(render(reply, base_url=base, style="text", language=language))
                    else:
                        _print_end(reply, streamed=request.use_rag)
    finally:
        service.close()


def print_sources(reply: Reply) -> None:
    """The sources with their best part, as a numbered list."""
    for source in reply.sources:
        place = source.link or source.file
        click.echo(click.style(f"[{source.n}] {source.title}", bold=True) + f"  {place}")
        click.echo(f"    {source.quote}")
        for stage in source.stages or ():
            click.echo(f"    {stage.name}: {stage.score:.4f} (#{stage.rank})")
    click.echo("")


def _print_end(reply: Reply, *, streamed: bool) -> None:
    if not streamed:
        print_sources(reply)
    # What streamed was a draft; the checked answer is what counts.
    click.echo(("\n\n" if streamed else "") + click.style(reply.answer.text, bold=streamed))
    if "-t" in reply.flags:
        for stage, milliseconds in reply.timings_ms.items():
            click.echo(f"    {stage}: {milliseconds:.1f} ms")
    for note in reply.notes:
        click.echo(note, err=True)
