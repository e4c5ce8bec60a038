"""Whether a picture suits a result: one column that names things or days, one that measures them."""

from __future__ import annotations

from pipeline.types import Chart, TableView

__all__ = ["chart_of"]

FEWEST, MOST = 2, 60
"""Rows that a chart shows."""


def chart_of(table: TableView) -> Chart | None:
    """The chart of a result of two columns, or None where a table says more."""
    if len(table.columns) != 2 or not FEWEST <= len(table.rows) <= MOST or table.truncated:
        return None
    measured = [place for place in (0, 1) if _measures(table, place)]
    if not measured:
        return None
    y = measured[-1]
    x = 1 - y
    names = [row[x] for row in table.rows]
    if any(name is None for name in names) or len(set(names)) < len(names):
        return None
    in_time = table.kinds[x] == "date" or all(_is_period(name) for name in names)
    if y in measured and x in measured and not in_time:
        return None
    return Chart("line" if in_time else "bar", table.columns[x], table.columns[y])


def _measures(table: TableView, place: int) -> bool:
    values = [row[place] for row in table.rows]
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _is_period(name: object) -> bool:
    """A year, or a year with a month, a quarter or a day."""
    text = str(name)
    year, _, rest = text.partition("-")
    return len(year) == 4 and year.isdigit() and year[:2] in ("19", "20") and len(rest) <= 5
