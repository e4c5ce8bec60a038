"""``otvet store``: what can keep the index, how it stands, and copying it from one to another."""

from __future__ import annotations

import importlib.util
from dataclasses import asdict
from typing import Any, cast, get_args

import click

from pipeline.cli import console
from pipeline.settings import StoreKind

__all__ = ["store"]

_KINDS = get_args(StoreKind)
_NEEDS = {
    "faiss-flat": ("faiss", "faiss"),
    "faiss-hnsw": ("faiss", "faiss"),
    "chroma": ("chromadb", "chroma"),
    "postgres": ("psycopg_pool", "postgres"),
    "qdrant": ("qdrant_client", "qdrant"),
}
"""Kind -> the module it needs, and the extra that brings it."""

_ABOUT = {
    "json": "store_about_json",
    "faiss-flat": "store_about_faiss_flat",
    "faiss-hnsw": "store_about_faiss_hnsw",
    "chroma": "store_about_chroma",
    "postgres": "store_about_postgres",
    "qdrant": "store_about_qdrant",
}


@click.group(help=console.tell("store_help"))
def store() -> None:
    """What can keep the index."""


@store.command("list", help=console.tell("store_list_help"))
@console.json_option
def list_stores(as_json: bool) -> None:
    """Name every kind, with what it needs."""
    used = console.settings().store.kind
    rows = [_row(kind, used) for kind in _KINDS]
    if as_json:
        console.print_json({"stores": rows})
        return
    for row in rows:
        mark = "*" if row["used"] else " "
        lacks = "" if row["installed"] else console.tell("store_lacks", extra=row["extra"])
        click.echo(f"{mark} {row['kind']:<11} {row['about']}{lacks}")


def _row(kind: str, used: str) -> dict[str, Any]:
    module, extra = _NEEDS.get(kind, ("", ""))
    return {
        "kind": kind,
        "used": kind == used,
        "installed": not module or importlib.util.find_spec(module) is not None,
        "extra": extra or None,
        "about": console.tell(_ABOUT[kind]),
    }


@store.command("status", help=console.tell("store_status_help"))
@click.argument("kind", required=False, type=click.Choice(_KINDS))
@console.json_option
def status(kind: str | None, as_json: bool) -> None:
    """Tell how a store stands to the JSON files; exit code 4 where it cannot be searched."""
    from pipeline.store_copy import store_state

    settings = console.settings()
    found = store_state(settings, cast(StoreKind, kind or settings.store.kind))
    if as_json:
        shown = {**asdict(found), "error": found.error.code if found.error else None}
        console.print_json(shown)
    else:
        console.say(
            f"store_state_{found.state}", store=found.kind, kb_version=found.kb_version, chunks=found.chunks
        )
        if found.error is not None:
            raise found.error
    if found.state in ("empty", "unusable"):
        raise click.exceptions.Exit(4)


@store.command("copy", help=console.tell("store_copy_help"))
@click.argument("source", type=click.Choice(_KINDS))
@click.argument("target", type=click.Choice(_KINDS))
@click.option("--from-url", help=console.tell("store_option_from_url"))
@click.option("--to-url", help=console.tell("store_option_to_url"))
@console.json_option
def copy(source: str, target: str, from_url: str | None, to_url: str | None, as_json: bool) -> None:
    """Copy everything, and compare both afterwards; nothing is embedded."""
    from pipeline.store_copy import copy_store
    from pipeline.storing import create_store, with_kind

    settings = console.settings()
    of = create_store(with_kind(settings, cast(StoreKind, source), from_url))
    to = create_store(with_kind(settings, cast(StoreKind, target), to_url))
    try:
        with console.progress_bars() as bars:
            told = bars.task(console.tell("store_writing", store=target))
            report = copy_store(of, to, told, settings.store.source)
    finally:
        of.close()
        to.close()
    if as_json:
        console.print_json({"from": source, "to": target, "equal": True, **asdict(report)})
    else:
        console.say("store_written", store=target, **asdict(report))
        console.say("store_equal")
