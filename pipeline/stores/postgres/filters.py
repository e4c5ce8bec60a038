"""A filter as conditions on the rows of `chunks`. Every value is a bound parameter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pipeline.stores.postgres.rows import facet
from pipeline.stores.postgres.texts import to_postgres
from pipeline.text.conditions import Wanted, has_conditions
from pipeline.types import Filter

__all__ = ["ALL", "Condition", "condition_of"]


@dataclass(frozen=True, slots=True)
class Condition:
    """What a row must meet.

    Attributes:
        sql: An expression over the columns of `chunks`; text of this module only.
        values: Its parameters by name.
    """

    sql: str
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def everything(self) -> bool:
        """True where every row meets it."""
        return not self.values


ALL = Condition("true")


def condition_of(wanted: Filter | None) -> Condition:
    """The condition of a filter, in the forms that all stores compare."""
    if wanted is None or not has_conditions(wanted):
        return ALL
    asked = Wanted.of(wanted)
    parts: list[str] = []
    values: dict[str, Any] = {}

    def add(sql: str, **bound: object) -> None:
        parts.append(sql)
        values.update(bound)

    if asked.source_types:
        add("source_type = ANY (%(f_types)s)", f_types=_listed(asked.source_types))
    if asked.tags:
        add("labels && %(f_tags)s", f_tags=_listed(asked.tags))
    if asked.path_start:
        add("starts_with(file, %(f_path)s)", f_path=to_postgres(asked.path_start))
    for number, (key, forms) in enumerate(sorted(asked.values.items())):
        name = f"f_value_{number}"
        add(f"facets && %({name})s", **{name: sorted(facet(key, form) for form in forms)})
    if asked.dated:
        add("day <> '' AND day >= %(f_since)s", f_since=asked.since)
    if asked.until:
        add("day <= %(f_until)s", f_until=asked.until)
    return Condition(" AND ".join(f"({part})" for part in parts) or "true", values)


def _listed(values: frozenset[str]) -> list[str]:
    return sorted(map(to_postgres, values))
