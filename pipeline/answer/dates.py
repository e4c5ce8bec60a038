"""Of what date a source is, as far as the knowledge base says.

Asked for only when two sources contradict each other. What stands in the document's own metadata comes first,
then its file name, its headings, and a line of its head that names a date («Редакция от 05.03.2024»).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from pipeline.text.document_dates import latest_date, stated_date
from pipeline.types import Chunk, Document

__all__ = ["Dating", "document_date"]

HEAD = 600
"""Characters of a document in which a date of the whole may stand."""

_HEAD_LINE = re.compile(
    r"^.*\b(?:дата|редакция|обновлен\w*|измен[её]н\w*|действует|утвержд[её]н\w*|версия от|приказ\w*"
    r"|updated|modified|effective|as of|revised|last change|date)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Dating:
    """Tells the dates of sources.

    Args:
        document: Gives the document of an id.
        modified: Seconds since 1970 of a file of the knowledge base by its name; None when it is not there.
    """

    document: Callable[[str], Document | None]
    modified: Callable[[str], float | None]

    def of_both(self, one: Chunk, other: Chunk) -> tuple[str, str]:
        """ISO dates of two sources, whole or in part, empty where nothing tells.

        The times of the files count only when neither document says anything about itself: a copied file
        is as new as the copy.
        """
        dates = tuple(self._said(chunk) for chunk in (one, other))
        return (dates[0], dates[1]) if any(dates) else (self._of_file(one), self._of_file(other))

    def _said(self, chunk: Chunk) -> str:
        document = self.document(chunk.document_id)
        return "" if document is None else document_date(document, chunk)

    def _of_file(self, chunk: Chunk) -> str:
        seconds = self.modified(chunk.file)
        return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).date().isoformat()


def document_date(document: Document, chunk: Chunk) -> str:
    """ISO date of a source, whole («2024-03-05») or in part («2024»); empty when nothing tells.

    Args:
        document: The document.
        chunk: The passage of it; its own headings may be dated.
    """
    if date := stated_date(document):
        return date
    headings = " ".join((chunk.topic, *chunk.headings, document.title))
    head = " ".join(match.group() for match in _HEAD_LINE.finditer(document.text[:HEAD]))
    return latest_date(headings) or latest_date(head)
