"""``otvet index``: build the index of the knowledge base, tell how it stands, or follow the folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, get_args

import click

from pipeline.cli import console
from pipeline.settings import StoreKind

if TYPE_CHECKING:
    from pipeline.indexing import EmbedderSource, IndexStatus
    from pipeline.ingest.build import BuildReport
    from pipeline.ingest.holdings import FileStatus
    from pipeline.snapshot import StoreReport

__all__ = ["index", "run_index", "show_status", "watch"]


def run_index(*, rebuild: bool, fetching: bool = False, as_json: bool = False) -> None:
    """Bring the index up to date, and report every file that was left out."""
    more = _fetched(say=not as_json) if fetching else {}
    report = _built(rebuild=rebuild)
    stored = _stored()
    if as_json and stored is not None:
        more = {**more, "store": {"kind": console.settings().store.kind, **asdict(stored)}}
    _show(report, as_json=as_json, more=more)
    if not as_json:
        _say_stored(stored)


def watch(*, as_json: bool = False) -> None:
    """Bring the index up to date after every change of the knowledge base, until Ctrl-C."""
    from threading import Event

    from pipeline import bootstrap
    from pipeline.ingest.watch import follow

    settings = console.settings()
    source = bootstrap.embedder_source(settings).kept()
    shown = False

    def update() -> None:
        nonlocal shown
        report = _built(source=source)
        stored = _stored()
        if report is not None or not shown:
            _show(report, as_json=as_json)
            if not as_json:
                _say_stored(stored)
        shown = True

    console.say("index_watching", path=settings.knowledge_base, err=True)
    try:
        follow(settings.knowledge_base, update, console.report, Event())
    except KeyboardInterrupt:
        console.say("index_watch_end", err=True)


def _built(*, rebuild: bool = False, source: EmbedderSource | None = None) -> BuildReport | None:
    from pipeline import bootstrap

    with console.progress_bars() as bars:
        shown = bars.task(console.tell("index_embedding"))
        return bootstrap.build(console.settings(), rebuild=rebuild, progress=shown, source=source)


def _stored() -> StoreReport | None:
    """Bring the store up to the JSON files, where these are not all of it."""
    from pipeline.storing import fill_store

    settings = console.settings()
    if settings.store.kind == "json":
        return None
    with console.progress_bars() as bars:
        return fill_store(settings, bars.task(console.tell("store_writing", store=settings.store.kind)))


def _say_stored(report: StoreReport | None) -> None:
    if report is not None:
        console.say("store_written", store=console.settings().store.kind, **asdict(report))


def _fetched(*, say: bool) -> dict[str, Any]:
    """Fetch what ``sources.toml`` names; what that came to, for JSON."""
    from pipeline import bootstrap

    with console.progress_bars() as bars:
        report = bootstrap.fetch(console.settings(), bars.task(console.tell("index_fetching")))
    failed = {source: why.text(console.language()) for source, why in report.failed.items()}
    if say:
        console.say(
            "index_fetched",
            changed=len(report.changed),
            unchanged=len(report.unchanged),
            failed=len(failed),
            removed=len(report.removed),
        )
        for source, why in failed.items():
            console.say("index_fetch_failed", source=source, reason=why)
        for key, files in (("index_fetch_changed", report.changed), ("index_fetch_removed", report.removed)):
            for file in files:
                console.say(key, file=file)
    found = {"changed": report.changed, "unchanged": report.unchanged, "failed": failed}
    return {"fetched": found | {"removed": report.removed}}


def _show(report: BuildReport | None, *, as_json: bool, more: Mapping[str, Any] | None = None) -> None:
    if as_json:
        told = {"current": True} if report is None else _report_json(report)
        console.print_json({**(more or {}), **told})
    elif report is None:
        console.say("index_current")
    else:
        _say_report(report)


def show_status(*, as_json: bool = False) -> None:
    """Tell what is in the index, what was skipped and why, and what has changed since."""
    from pipeline import bootstrap

    status = bootstrap.index_status(console.settings())
    if as_json:
        console.print_json(_status_json(status))
        return
    spoken = console.language()
    for file in status.files:
        details = [console.tell("index_status_chunks", chunks=file.chunks)] if file.chunks else []
        details += [file.encoding] if file.encoding not in (None, "utf-8") else []
        details += [phrase.text(spoken) for phrase in (*filter(None, [file.reason]), *file.notes)]
        shown = f" ({'; '.join(details)})" if details else ""
        click.echo(f"  {console.tell(f'index_state_{file.state}'):<10} {file.file}{shown}")
    console.say("index_status_files", found=len(status.files) - status.count("gone"), **_counts(status))
    if status.difference is not None:
        console.say("index_difference", reason=status.difference.text(spoken))
    console.say("index_current" if status.is_current else "index_status_old")


def _say_report(report: BuildReport) -> None:
    spoken = console.language()
    if report.difference is not None:
        console.say("index_difference", reason=report.difference.text(spoken))
    console.say(
        "index_done", found=report.found, indexed=report.indexed, chunks=report.chunks, tokens=report.tokens
    )
    console.say(
        "index_work",
        read=report.read,
        embedded=report.embedded,
        reused=report.reused,
        removed=report.removed,
    )
    for file, encoding in report.encodings.items():
        console.say("index_encoding", file=file, encoding=encoding)
    for file, notes in report.notes.items():
        for note in notes:
            console.say("index_note", file=file, note=note.text(spoken))
    for file, why in report.skipped.items():
        console.say("index_skipped", file=file, reason=why.text(spoken))
    if not report.chunks:
        console.say("index_empty", path=console.settings().knowledge_base)


def _report_json(report: BuildReport) -> dict[str, Any]:
    spoken = console.language()
    return {
        "current": False,
        "found": report.found,
        "indexed": report.indexed,
        "skipped": {file: why.text(spoken) for file, why in report.skipped.items()},
        "chunks": report.chunks,
        "tokens": report.tokens,
        "dropped_tokens": report.dropped_tokens,
        "shortened_topics": report.shortened_topics,
        "encodings": dict(report.encodings),
        "notes": {file: [note.text(spoken) for note in notes] for file, notes in report.notes.items()},
        "read": report.read,
        "embedded": report.embedded,
        "reused": report.reused,
        "removed": report.removed,
        "difference": report.difference.text(spoken) if report.difference else None,
    }


def _status_json(status: IndexStatus) -> dict[str, Any]:
    spoken = console.language()
    return {
        "current": status.is_current,
        "kb_version": status.kb_version,
        "difference": status.difference.text(spoken) if status.difference else None,
        "found": len(status.files) - status.count("gone"),
        **_counts(status),
        "files": [_file_json(file) for file in status.files],
    }


def _file_json(file: FileStatus) -> dict[str, Any]:
    spoken = console.language()
    return {
        "file": file.file,
        "state": file.state,
        "reason": file.reason.text(spoken) if file.reason else None,
        "chunks": file.chunks,
        "encoding": file.encoding,
        "notes": [note.text(spoken) for note in file.notes],
    }


def _counts(status: IndexStatus) -> dict[str, Any]:
    return {
        "indexed": status.count("indexed"),
        "skipped": status.count("skipped"),
        "new": status.count("new"),
        "changed": status.count("changed"),
        "gone": status.count("gone"),
    }


@click.command(help=console.tell("index_help"))
@click.option("--rebuild", is_flag=True, help=console.tell("index_option_rebuild"))
@click.option("--status", is_flag=True, help=console.tell("index_option_status"))
@click.option("--fetch", "fetching", is_flag=True, help=console.tell("index_option_fetch"))
@click.option(
    "--store",
    type=click.Choice(get_args(StoreKind)),
    expose_value=False,
    callback=lambda _context, _option, kind: console.override({"store.kind": kind}),
    help=console.tell("index_option_store"),
)
@click.option("--watch", "watching", is_flag=True, help=console.tell("index_option_watch"))
@console.json_option
def index(rebuild: bool, status: bool, fetching: bool, watching: bool, as_json: bool) -> None:
    """Build the index, tell how it stands, or follow the knowledge base."""
    if (rebuild or fetching) + status + watching > 1:
        names = "--rebuild, --fetch | --status | --watch"
        raise click.UsageError(console.tell("index_options_clash", options=names))
    if status:
        show_status(as_json=as_json)
    elif watching:
        watch(as_json=as_json)
    else:
        run_index(rebuild=rebuild, fetching=fetching, as_json=as_json)
