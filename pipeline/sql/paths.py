"""Foreign keys as a map: which tables lie between those that a question is about."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from pipeline.sql.catalog import Catalog, Table

__all__ = ["between", "neighbours"]


def neighbours(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """For each table those that its keys lead to, and those whose keys lead to it."""
    found: dict[str, set[str]] = {name: set() for name in catalog.tables}
    for table in catalog.tables.values():
        for key in table.foreign:
            if key.table in found and key.table != table.name:
                found[table.name].add(key.table)
                found[key.table].add(table.name)
    return {name: tuple(sorted(near)) for name, near in found.items()}


def between(catalog: Catalog, chosen: Iterable[str]) -> tuple[str, ...]:
    """Tables on the shortest ways that join the chosen ones; the first of those is where all ways begin.

    Of ways of one length the one is taken that goes over tables already on the map, then the first by name.
    """
    near = neighbours(catalog)
    names = [name for name in chosen if name in near]
    on_map = set(names[:1])
    for name in names[1:]:
        on_map |= set(_way(near, catalog.tables, on_map, name))
    return tuple(name for name in sorted(on_map) if name not in names)


def _way(
    near: Mapping[str, tuple[str, ...]], tables: Mapping[str, Table], start: set[str], goal: str
) -> list[str]:
    """A shortest way from any table on the map to the goal; the goal alone where there is none."""
    before: dict[str, str] = {}
    line = deque(sorted(start, key=lambda name: (-tables[name].rows, name)))
    seen = set(line)
    while line:
        name = line.popleft()
        if name == goal:
            break
        for following in near[name]:
            if following not in seen:
                seen.add(following)
                before[following] = name
                line.append(following)
    way = [goal]
    while way[-1] in before:
        way.append(before[way[-1]])
    return way
