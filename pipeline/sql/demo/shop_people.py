"""Who works in the demo shop and who buys there."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping
from typing import Any

from pipeline.sql.demo.tables import Cell

__all__ = ["customers", "employees"]

Rows = list[tuple[Cell, ...]]

_EMPLOYEES = 36
_CUSTOMERS = 300
_SALARIES = (52_000, 71_000, 64_000, 48_000, 66_000, 118_000)


def employees(words: Mapping[str, Any], rng: random.Random, today: dt.date) -> Rows:
    """The first of each department leads it and reports to the first of all."""
    made: Rows = []
    departments = len(words["departments"])
    for number in range(1, _EMPLOYEES + 1):
        department = (number - 1) % departments + 1
        leads = number <= departments
        position = len(words["positions"]) - 1 if leads else _position(department, rng)
        hired = today - dt.timedelta(days=rng.randint(90, 3400))
        salary = round(_SALARIES[position] * rng.uniform(0.9, 1.3) / 500) * 500
        manager = None if number == 1 else 1 if leads else department
        made.append(
            (
                number,
                _name(words, rng),
                department,
                words["positions"][position],
                hired.isoformat(),
                salary,
                manager,
            )
        )
    return made


def customers(words: Mapping[str, Any], rng: random.Random, today: dt.date) -> Rows:
    """Buyers of three segments, each name once."""
    made: Rows = []
    names: set[str] = set()
    while len(made) < _CUSTOMERS:
        name = _name(words, rng)
        if name in names:
            continue
        names.add(name)
        number = len(made) + 1
        registered = today - dt.timedelta(days=rng.randint(15, 1300))
        segment = rng.choices(words["segments"], [7, 2, 1])[0]
        phone = f"+7900{rng.randint(1_000_000, 9_999_999)}"
        email = f"buyer{number}@post.example"
        city = rng.choice(words["cities"])
        made.append((number, name, city, segment, registered.isoformat(), email, phone))
    return made


def _position(department: int, rng: random.Random) -> int:
    by_department = {4: (3,), 5: (4,)}
    return rng.choice(by_department.get(department, (0, 1, 2)))


def _name(words: Mapping[str, Any], rng: random.Random) -> str:
    surname = rng.choice(words["surnames"])
    if rng.random() < 0.5:
        return f"{rng.choice(words['men'])} {surname}"
    return f"{rng.choice(words['women'])} {surname}а"
