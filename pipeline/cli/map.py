"""``otvet map``: the knowledge base as a picture, and what it says in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.cli import console

if TYPE_CHECKING:
    from pipeline.plots.map_data import KnowledgeMap, Point
    from pipeline.plots.position import Place

__all__ = ["map"]

_LISTED = 12
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(help=console.tell("map_help"))
@click.option("--question", help=console.tell("map_option_question"))
@click.option("--html", type=_FILE, help=console.tell("map_option_html"))
@click.option("--png", type=_FILE, help=console.tell("map_option_png"))
@console.json_option
def map(question: str | None, html: Path | None, png: Path | None, as_json: bool) -> None:  # noqa: A001 - the command's name
    """Draw the map where there is none of this index yet; print it, write it where asked."""
    from pipeline.plots.map_file import current_map, map_record
    from pipeline.plots.page import place_record, write_page
    from pipeline.plots.png import write_png

    with console.progress_bars() as bars:
        shown = current_map(
            console.settings().embeddings, lambda step: bars.task(console.tell(f"map_step_{step}"))
        )
    place = _placed(shown, question) if question is not None else None
    if png is not None:
        write_png(shown, png, console.language(), place)
    if html is not None:
        write_page(shown, html, console.language(), place)
    if as_json:
        asked = {"question": place_record(place)} if place else {}
        console.print_json(map_record(shown) | asked)
        return
    _describe(shown)
    if place is not None:
        _print_nearest(shown, place)
    for path in filter(None, (png, html)):
        console.say("map_written", path=path)


def _placed(shown: KnowledgeMap, question: str) -> Place:
    from pipeline import bootstrap
    from pipeline.plots.position import find_place, question_request

    service = bootstrap.create_service(console.settings())
    try:
        service.start(wait=True, generator=False)
        return find_place(shown, service, question_request(question, console.language()))
    finally:
        service.close()


def _describe(shown: KnowledgeMap) -> None:
    """Say what the picture shows: groups of topics, what is doubled, what lies alone."""
    if not shown.points:
        console.say("map_nothing")
        return
    click.echo(
        click.style(
            console.tell("map_title", points=len(shown.points), clusters=len(shown.clusters)), bold=True
        )
    )
    if shown.method == "pca":
        console.say("map_few")
    if shown.clusters:
        console.say("map_clusters_heading")
        _print_some([f"{cluster.size:>6}  {', '.join(cluster.terms)}" for cluster in shown.clusters])
        between = sum(point.cluster is None for point in shown.points)
        click.echo(f"{between:>6}  ({console.tell('map_between')})")
    copies: dict[int, list[Point]] = {}
    for point in shown.points:
        if point.duplicates is not None:
            copies.setdefault(point.duplicates, []).append(point)
    console.say("map_doubled_heading", count=len(copies))
    _print_some([f"  {_files(group)}" for group in copies.values()])
    alone = [point for point in shown.points if point.alone]
    console.say("map_alone_heading", count=len(alone))
    _print_some([f"  {point.file}: {point.topic}" for point in alone])


def _files(group: Sequence[Point]) -> str:
    """Where the passages of a group stand, each file once."""
    counts = Counter(point.file for point in group)
    return " = ".join(f"{file} ×{count}" if count > 1 else file for file, count in counts.items())


def _print_nearest(shown: KnowledgeMap, place: Place) -> None:
    words = {cluster.number: ", ".join(cluster.terms) for cluster in shown.clusters}
    clusters = {point.id: point.cluster for point in shown.points}
    console.say("map_nearest_heading", question=place.question)
    for source in place.nearest:
        number = clusters.get(source.chunk_id)
        where = console.tell("map_between") if number is None else words[number]
        click.echo(f"  {source.title}  {source.file}  [{where}]")


def _print_some(lines: Sequence[str]) -> None:
    for line in lines[:_LISTED]:
        click.echo(line)
    if len(lines) > _LISTED:
        console.say("map_more", count=len(lines) - _LISTED)
