"""Of what date a source is, as far as the knowledge base says.

Asked for only when two sources contradict each other. What stands in the document's own metadata comes first,
then its file name, its headings, and a line of its head that names a date («Редакция от 05.03.2024»).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pipeline.answer.facts import find_facts
from pipeline.text.normalise import fold
from pipeline.types import Chunk, Document

__all__ = ["Dating", "document_date"]

HEAD = 600
"""Characters of a document in which a date of the whole may stand."""

_KEYS = (
    *("updated", "modified", "last_modified", "lastmod", "изменено", "изменён", "обновлено", "обновлён"),
    *("date", "дата", "effective", "действует с", "published", "created", "создано", "version_date"),
)
_ISO = re.compile(r"(?<!\d)((?:19|20)\d\d)[-._]?(0[1-9]|1[0-2])(?:[-._]?(0[1-9]|[12]\d|3[01]))?(?!\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(0?[1-9]|[12]\d|3[01])[-._](0?[1-9]|1[0-2])[-._]((?:19|20)\d\d)(?!\d)")
_YEAR = re.compile(r"(?<![\d.])((?:19|20)\d\d)(?![\d])")
_HEAD_LINE = re.compile(
    r"^.*\b(?:дата|редакция|обновлен\w*|измен[её]н\w*|действует|утвержд[её]н\w*|версия от|приказ\w*"
    r"|updated|modified|effective|as of|revised|last change|date)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Dating:
    """Tells the dates of sources.

    Args:
        documents: By id, as in the index.
        modified: Seconds since 1970 of a file of the knowledge base by its name; None when it is not there.
    """

    documents: Mapping[str, Document]
    modified: Callable[[str], float | None]

    def of_both(self, one: Chunk, other: Chunk) -> tuple[str, str]:
        """ISO dates of two sources, whole or in part, empty where nothing tells.

        The times of the files count only when neither document says anything about itself: a copied file
        is as new as the copy.
        """
        dates = tuple(document_date(self.documents[chunk.document_id], chunk) for chunk in (one, other))
        return (dates[0], dates[1]) if any(dates) else (self._of_file(one), self._of_file(other))

    def _of_file(self, chunk: Chunk) -> str:
        seconds = self.modified(chunk.file)
        return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).date().isoformat()


def document_date(document: Document, chunk: Chunk) -> str:
    """ISO date of a source, whole («2024-03-05») or in part («2024»); empty when nothing tells.

    Args:
        document: The document.
        chunk: The passage of it; its own headings may be dated.
    """
    said = {fold(str(key)): str(value) for key, value in document.metadata.items()}
    for key in _KEYS:
        if date := _in_text(said.get(fold(key), "")):
            return date
    name = document.file.rsplit("/", 1)[-1]
    headings = " ".join((chunk.topic, *chunk.headings, document.title))
    head = " ".join(match.group() for match in _HEAD_LINE.finditer(document.text[:HEAD]))
    return _in_text(name) or _in_text(headings) or _in_text(head)


def _in_text(text: str) -> str:
    """The latest date a short text names; a year alone where there is nothing finer."""
    found = [f"{m[1]}-{m[2]}" + (f"-{m[3]}" if m[3] else "") for m in _ISO.finditer(text)]
    found += [f"{m[3]}-{int(m[2]):02d}-{int(m[1]):02d}" for m in _DAY_FIRST.finditer(text)]
    found += [
        key for fact in find_facts(text) if fact.kind == "date" for key in fact.keys if key[0].isdigit()
    ]
    return max(found or _YEAR.findall(text), default="")
