"""Weeks, months, quarters, halves and years of the calendar; every span is half-open, [start, end)."""

from __future__ import annotations

import datetime as dt
from typing import Literal

__all__ = ["Span", "Unit", "last_units", "months_later", "unit_span"]

Unit = Literal["day", "week", "month", "quarter", "half", "year"]
Span = tuple[dt.date, dt.date]

_MONTHS: dict[Unit, int] = {"month": 1, "quarter": 3, "half": 6, "year": 12}
_DAYS: dict[Unit, int] = {"day": 1, "week": 7}


def months_later(day: dt.date, months: int) -> dt.date:
    """The same day so many months later, or the last one of that month; within the years 1 to 9999."""
    count = min(max(day.year * 12 + day.month - 1 + months, 12), 9999 * 12 + 11)
    year, month = divmod(count, 12)
    for last in range(day.day, 27, -1):
        try:
            return dt.date(year, month + 1, last)
        except ValueError:
            continue  # a shorter month
    return dt.date(year, month + 1, day.day)


def unit_span(day: dt.date, unit: Unit, steps: int = 0) -> Span:
    """The unit that a day lies in, or the one so many steps later.

    Weeks begin on Monday (ISO 8601).
    """
    if unit in _DAYS:
        length = _DAYS[unit]
        first = day - dt.timedelta(days=day.weekday() if unit == "week" else 0)
        first += dt.timedelta(days=length * steps)
        return first, first + dt.timedelta(days=length)
    length = _MONTHS[unit]
    first = dt.date(day.year, (day.month - 1) // length * length + 1, 1)
    first = months_later(first, length * steps)
    return first, months_later(first, length)


def last_units(today: dt.date, unit: Unit, count: int) -> Span:
    """So many whole units that end with today: the last 30 days are today and the 29 before it."""
    end = today + dt.timedelta(days=1)
    if unit in _DAYS:
        return end - dt.timedelta(days=_DAYS[unit] * count), end
    return months_later(end, -_MONTHS[unit] * count), end
