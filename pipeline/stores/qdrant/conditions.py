"""Filters as Qdrant takes them; both searches get them before they rank anything.

A path's start is compared with the file and the folders above it, which are kept as keywords: of a start
that ends inside a name, the names that go on from there are looked up in the list of files first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pipeline.text.conditions import Wanted, folded_label, has_conditions, source_type_of, value_form
from pipeline.text.document_dates import document_day
from pipeline.types import Chunk, Document, Filter

if TYPE_CHECKING:
    from qdrant_client import models

__all__ = ["asked_of", "chunk_facets", "document_facets"]


def document_facets(document: Document) -> dict[str, Any]:
    """What filters ask of all chunks of a document, as payload."""
    facets: dict[str, Any] = {
        "path": list(_steps(document.file)),
        "source_type": source_type_of(document),
        "meta": [_pair(key, value_form(value)) for key, value in document.metadata.items()],
        "tags": sorted(set(map(folded_label, document.tags))),
    }
    day = document_day(document)
    return facets | ({"day": _number(day)} if day else {})


def chunk_facets(of_document: Mapping[str, Any], chunk: Chunk) -> dict[str, Any]:
    """Those of one chunk, which may have labels of its own."""
    if not chunk.tags:
        return dict(of_document)
    return {**of_document, "tags": sorted({*of_document["tags"], *map(folded_label, chunk.tags)})}


def asked_of(wanted: Filter | None, files: Sequence[str]) -> list[models.Condition] | None:
    """The conditions of a filter; None where no chunk can meet it.

    Args:
        wanted: The filter.
        files: All files of the base, in order.
    """
    from qdrant_client import models

    if wanted is None or not has_conditions(wanted):
        return []
    forms = Wanted.of(wanted)
    conditions: list[models.Condition] = []
    if forms.source_types:
        conditions.append(_any("source_type", forms.source_types))
    if forms.tags:
        conditions.append(_any("tags", forms.tags))
    if not all(forms.values.values()):
        return None
    conditions += [
        _any("meta", [_pair(key, form) for form in values]) for key, values in forms.values.items()
    ]
    if forms.dated:
        first, last = (_number(day) if day else None for day in (forms.since, forms.until))
        span = models.Range(gte=first, lte=last)
        conditions.append(models.FieldCondition(key="day", range=span))
    if forms.path_start:
        entries = _going_on(forms.path_start, files)
        if not entries:
            return None
        conditions.append(_any("path", entries))
    return conditions


def _any(key: str, values: Iterable[str]) -> models.FieldCondition:
    from qdrant_client import models

    return models.FieldCondition(key=key, match=models.MatchAny(any=sorted(values)))


def _pair(key: str, form: str) -> str:
    return f"{key}\x1f{form}"


def _number(day: str) -> int:
    return int(day.replace("-", ""))


def _steps(file: str) -> Iterator[str]:
    """``a/``, ``a/b/`` and ``a/b/c.md`` for a file ``a/b/c.md``."""
    end = file.find("/")
    while end >= 0:
        yield file[: end + 1]
        end = file.find("/", end + 1)
    yield file


def _going_on(start: str, files: Sequence[str]) -> set[str]:
    """The steps of `_steps` that a start of a path stands for."""
    if start.endswith("/"):
        return {start} if any(file.startswith(start) for file in files) else set()
    found: set[str] = set()
    for file in files:
        if file.startswith(start):
            end = file.find("/", len(start))
            found.add(file if end < 0 else file[: end + 1])
    return found
