"""What a person should know of a document that was read, but not all of it."""

from __future__ import annotations

from pipeline.messages import Phrase
from pipeline.types import Document

__all__ = ["notes_of"]

_NOTES = {
    "pages_without_text": "note_pages_without_text",
    "rows_read": "note_rows_left_out",
    "hidden_sheets": "note_hidden_sheets",
}


def notes_of(document: Document) -> list[Phrase]:
    """Phrases on the parts of a document that were left out; none for one that was read whole."""
    if document.metadata.get("source_type") == "sqlite":
        return []  # its metadata are columns of the user's own
    return [
        Phrase(key, {"detail": document.metadata[name]})
        for name, key in _NOTES.items()
        if name in document.metadata
    ]
