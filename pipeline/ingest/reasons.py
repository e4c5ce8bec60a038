"""Why a file is not in the index: phrases for people that also fit into ``manifest.json``."""

from __future__ import annotations

from pipeline.errors import UnreadableFileError
from pipeline.messages import Phrase

__all__ = ["cause_of", "reason", "restored", "stored"]


def reason(key: str, detail: object = "") -> Phrase:
    """The phrase ``skip_<key>`` of ``answers.toml``, with its detail if it has one."""
    return Phrase(f"skip_{key}", {"detail": detail} if detail != "" else {})


def stored(phrase: Phrase) -> str:
    """As kept in the manifest: ``no_text`` or ``unsupported: .png``."""
    key = phrase.key.removeprefix("skip_")
    detail = phrase.values.get("detail", "")
    return f"{key}: {detail}" if detail != "" else key


def restored(text: str) -> Phrase:
    """The phrase behind a value of ``Manifest.skipped``."""
    key, _, detail = text.partition(": ")
    return reason(key, detail)


def cause_of(error: UnreadableFileError) -> Phrase:
    """The reason an error was raised with."""
    value = error.values.get("reason", "")
    return value if isinstance(value, Phrase) else reason("unopened", value)
