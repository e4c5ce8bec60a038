"""``otvet index``: build the index of the knowledge base."""

from __future__ import annotations

import click

from pipeline.cli import console

__all__ = ["index", "run_index"]


def run_index(*, rebuild: bool, as_json: bool = False) -> None:
    """Build the index unless it is current, and report every file that was left out."""
    from pipeline import bootstrap

    settings = console.settings()
    with console.progress_bars() as bars:
        report = bootstrap.build(
            settings, rebuild=rebuild, progress=bars.task(console.tell("index_embedding"))
        )
    if report is None:
        if as_json:
            console.print_json({"current": True})
        else:
            console.say("index_current")
        return
    spoken = console.language()
    skipped = {file: phrase.text(spoken) for file, phrase in report.skipped.items()}
    if as_json:
        console.print_json(
            {
                "current": False,
                "found": report.found,
                "indexed": report.indexed,
                "skipped": skipped,
                "chunks": report.chunks,
                "tokens": report.tokens,
                "dropped_tokens": report.dropped_tokens,
                "shortened_topics": report.shortened_topics,
                "encodings": dict(report.encodings),
            }
        )
        return
    console.say(
        "index_done", found=report.found, indexed=report.indexed, chunks=report.chunks, tokens=report.tokens
    )
    for file, encoding in report.encodings.items():
        console.say("index_encoding", file=file, encoding=encoding)
    for file, why in skipped.items():
        console.say("index_skipped", file=file, reason=why)
    if not report.chunks:
        console.say("index_empty", path=settings.knowledge_base)


@click.command(help=console.tell("index_help"))
@click.option("--rebuild", is_flag=True, help=console.tell("index_option_rebuild"))
@console.json_option
def index(rebuild: bool, as_json: bool) -> None:
    """Build the index."""
    run_index(rebuild=rebuild, as_json=as_json)
