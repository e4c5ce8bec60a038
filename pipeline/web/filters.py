"""The field ``filter`` of a request: which documents to look in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pipeline.text.document_dates import first_day
from pipeline.types import Conditions, Filter
from pipeline.web.fields import refuse, text_of, texts_of

__all__ = ["FILTER_FIELDS", "filter_of"]

FILTER_FIELDS = ("source_type", "tags", "path_prefix", "metadata", "date")
"""What a filter may hold. Anything else is refused: a condition that does nothing gives wrong answers."""

_DATE_FIELDS = ("from", "to")
_EMPTY_YEAR = "0001"  # the empty date of 1C
_Scalar = str | int | float | bool


def filter_of(value: object) -> Filter | None:
    """Read a filter; None for none.

    Raises:
        InvalidRequestError: It has a field that is unknown or of a wrong type; the error names it.
    """
    if value is None:
        return None
    fields = _object("filter", value, FILTER_FIELDS)
    prefix = fields.get("path_prefix")
    since, until = _dates(fields.get("date"))
    return Filter(
        source_types=texts_of("filter.source_type", fields.get("source_type")),
        tags=texts_of("filter.tags", fields.get("tags")),
        path_prefix="" if prefix is None else text_of("filter.path_prefix", prefix),
        metadata=_metadata(fields.get("metadata")),
        since=since,
        until=until,
    )


def _object(name: str, value: object, known: tuple[str, ...]) -> Mapping[str, object]:
    if not isinstance(value, dict):
        refuse(name, "field_object")
    for key in value:
        if key not in known:
            refuse(f"{name}.{key[:40]}", "field_unknown", known=", ".join(known))
    return value


def _metadata(value: object) -> Conditions:
    if value is None:
        return {}
    if not isinstance(value, dict):
        refuse("filter.metadata", "field_object")
    return {name: _condition(name, item) for name, item in value.items()}


def _condition(name: str, value: object) -> _Scalar | tuple[_Scalar, ...]:
    items = cast(list[object], value) if isinstance(value, list) else [value]
    if not items or not all(isinstance(item, str | int | float) for item in items):
        refuse(f"filter.metadata.{name[:40]}", "field_scalar")
    return cast(tuple[_Scalar, ...], tuple(items)) if isinstance(value, list) else cast(_Scalar, value)


def _dates(value: object) -> tuple[str, str]:
    if value is None:
        return "", ""
    fields = _object("filter.date", value, _DATE_FIELDS)
    since, until = (_date(f"filter.date.{name}", fields.get(name)) for name in _DATE_FIELDS)
    return since, until


def _date(name: str, value: object) -> str:
    """A date, whole or in part; a time of the day, as 1C writes it, is left out."""
    text = "" if value is None else text_of(name, value).strip().partition("T")[0]
    if not text or text.startswith(_EMPTY_YEAR):
        return ""
    if not first_day(text):
        refuse(name, "field_date")
    return text
