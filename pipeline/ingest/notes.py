"""What a person should know of a document that was read, but not all of it."""

from __future__ import annotations

from pipeline.messages import Phrase
from pipeline.types import Document

__all__ = ["ROWS_CUT", "notes_of"]

ROWS_CUT = "rows_left_out_after"
"""Metadata of the last row that was read of a database table with more rows."""

_NOTES = {
    "pages_without_text": "note_pages_without_text",
    "rows_read": "note_rows_left_out",
    "hidden_sheets": "note_hidden_sheets",
}


def notes_of(document: Document) -> list[Phrase]:
    """Phrases on the parts of a document that were left out; none for one that was read whole."""
    is_row = document.metadata.get("source_type") == "sqlite"  # its metadata are columns of the user's own
    names = {ROWS_CUT: "note_rows_left_out"} if is_row else _NOTES
    return [
        Phrase(key, {"detail": document.metadata[name]})
        for name, key in names.items()
        if name in document.metadata
    ]
