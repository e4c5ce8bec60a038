"""What it means to meet a filter: the forms in which labels, paths, values and dates are compared.

Every store compares these forms and no others, so that a filter finds the same in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.text.document_dates import first_day, last_day
from pipeline.types import Document, Filter

__all__ = ["Wanted", "folded_label", "has_conditions", "labels_of", "source_type_of", "value_form"]

Scalar = str | int | float | bool


def has_conditions(wanted: Filter | None) -> bool:
    """False for a filter that lets everything through."""
    return wanted is not None and wanted != Filter()


def folded_label(text: str) -> str:
    """How tags and source types are compared: without spaces around them or regard to letter case."""
    return text.strip().casefold()


def source_type_of(document: Document) -> str:
    """The source type that a filter asks for, ``md`` for example."""
    return folded_label(str(document.metadata.get("source_type", "")))


def labels_of(tags: Iterable[str], document: Document) -> frozenset[str]:
    """The tags that a chunk answers to: its own and those of its document."""
    return frozenset(map(folded_label, (*tags, *document.tags)))


def value_form(value: Scalar) -> str:
    """A metadata value as it is compared: ``2024`` and ``"2024"`` are the same, true and ``"true"`` are not.

    A form may send a number as text, and a file may hold it as text. What a text looks like is left alone:
    «1.10» is a version and not «1.1».
    """
    if isinstance(value, bool):
        return f"\x01{str(value).lower()}"  # no text begins like that
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter in the forms that are compared.

    Attributes:
        source_types: Any one of them will do; empty: all will.
        tags: Likewise.
        path_start: What the file's name must begin with.
        values: Metadata key -> the forms of which its value must have one.
        since: The first day, ``2024-03-05``; empty: any.
        until: The last day, included; empty: any.
    """

    source_types: frozenset[str]
    tags: frozenset[str]
    path_start: str
    values: Mapping[str, frozenset[str]]
    since: str
    until: str

    @classmethod
    def of(cls, wanted: Filter) -> Wanted:
        """The forms of a filter. A date in part, «2024», begins on its first and ends on its last day."""
        return cls(
            frozenset(folded_label(name).removeprefix(".") for name in wanted.source_types),
            frozenset(map(folded_label, wanted.tags)),
            wanted.path_prefix.replace("\\", "/").removeprefix("./"),
            {
                key: frozenset(map(value_form, value if isinstance(value, tuple) else (value,)))
                for key, value in wanted.metadata.items()
            },
            first_day(wanted.since),
            last_day(wanted.until),
        )

    @property
    def dated(self) -> bool:
        """True if a date is asked for."""
        return bool(self.since or self.until)

    def suits_document(self, document: Document) -> bool:
        """True if a document meets all but tags and dates."""
        return (
            (not self.source_types or source_type_of(document) in self.source_types)
            and document.file.startswith(self.path_start)
            and all(
                key in document.metadata and value_form(document.metadata[key]) in forms
                for key, forms in self.values.items()
            )
        )

    def suits_day(self, day: str) -> bool:
        """True for the `document_day` of a document that is in the span; one without a day is in none."""
        return not self.dated or (bool(day) and self.since <= day and (not self.until or day <= self.until))

    def suits_labels(self, labels: frozenset[str]) -> bool:
        """True if a chunk has one of the tags; see `labels_of`."""
        return not self.tags or not self.tags.isdisjoint(labels)
