"""The files of the knowledge base as the index has them: found = indexed + skipped, and why."""

from __future__ import annotations

from pathlib import Path

from pipeline.errors import SettingsError
from pipeline.health.finding import Finding, Say
from pipeline.indexing import IndexStatus
from pipeline.ingest.sources.declared import SOURCES_FILE, load_sources

__all__ = ["check_files", "check_sources"]

_DIFFERS = {"new": "files_new", "changed": "files_changed", "gone": "files_gone"}


def check_sources(knowledge_base: Path, say: Say) -> list[Finding]:
    """A ``sources.toml`` that cannot be used: what it says of tables, addresses and encodings is lost."""
    try:
        load_sources(knowledge_base)
    except SettingsError as error:
        return [Finding(SOURCES_FILE, "problem", error.message(say.language), say("sources_next"))]
    return []


def check_files(status: IndexStatus, say: Say) -> list[Finding]:
    """Files that the index lacks, files that have changed since, files that hold no text, and notes."""
    changed = [file for file in status.files if file.state in _DIFFERS]
    skipped = [file for file in status.files if file.state == "skipped"]
    noted = [file for file in status.files if file.notes]
    found = len(status.files) - status.count("gone")
    findings = [
        Finding(
            say("files_indexed"),
            "warning" if changed else "ok",
            say("files_found", found=found, indexed=status.count("indexed"), skipped=len(skipped)),
            "otvet index" if changed else "",
            tuple(f"{file.file}: {say(_DIFFERS[file.state])}" for file in changed),
        )
    ]
    if status.difference is not None:
        detail = status.difference.text(say.language)
        findings.append(Finding(say("index"), "warning", detail, "otvet index"))
    if skipped:
        reasons = (
            f"{file.file}: {file.reason.text(say.language) if file.reason else '?'}" for file in skipped
        )
        detail = say("files_skipped", count=len(skipped))
        findings.append(
            Finding(say("files_unread"), "warning", detail, "otvet index --status", tuple(reasons))
        )
    if noted:
        notes = (
            f"{file.file}: {'; '.join(note.text(say.language) for note in file.notes)}" for file in noted
        )
        detail = say("files_noted", count=len(noted))
        findings.append(
            Finding(say("files_in_part"), "warning", detail, "otvet index --status", tuple(notes))
        )
    return findings
