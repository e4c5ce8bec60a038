"""Which names a file of the knowledge base may be given: those that every system can hold."""

from __future__ import annotations

import re
import unicodedata

from pipeline.errors import FileNameError
from pipeline.ingest.readers.registry import READERS, reader_for
from pipeline.ingest.sources.declared import SOURCES_FILE
from pipeline.messages import Phrase

__all__ = ["DEEPEST", "checked_name"]

DEEPEST = 8
"""Folders below each other, the file included."""

_STEP_BYTES = 200
_WHOLE = 400
# What Windows forbids, and what changes how a name is shown or read.
_FORBIDDEN = re.compile(
    r'[<>:"|?*\\\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffd\ud800-\udfff]'
)
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?", re.IGNORECASE)


def checked_name(file: str) -> str:
    """The name in composed letters (NFC), folders divided by slashes.

    Raises:
        FileNameError: It leads elsewhere, cannot be had on every system, or no reader takes such files.
    """
    name = unicodedata.normalize("NFC", file)
    steps = name.split("/")
    if len(steps) > DEEPEST or len(name) > _WHOLE:
        raise FileNameError(file=file[:_WHOLE], reason=Phrase("name_too_deep", {"folders": DEEPEST - 1}))
    for step in steps:
        _check(step, file)
    if name == SOURCES_FILE:
        raise FileNameError(file=file, reason=Phrase("name_reserved"))
    if reader_for(steps[-1]) is None:
        known = " ".join(sorted(READERS))
        raise FileNameError(file=file, reason=Phrase("name_format", {"known": known}))
    return name


def _check(step: str, file: str) -> None:
    if step in ("", ".", "..") or step.startswith("."):
        raise FileNameError(file=file, reason=Phrase("name_hidden"))
    if _FORBIDDEN.search(step) or step != step.strip() or step.endswith("."):
        raise FileNameError(file=file, reason=Phrase("name_letters"))
    if _DEVICE.fullmatch(step):
        raise FileNameError(file=file, reason=Phrase("name_reserved"))
    if len(step.encode()) > _STEP_BYTES:
        raise FileNameError(file=file, reason=Phrase("name_too_long"))
