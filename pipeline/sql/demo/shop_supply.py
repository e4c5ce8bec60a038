"""What the demo shop buys from its suppliers."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping

from pipeline.sql.demo.tables import Cell

__all__ = ["supply"]

Rows = list[tuple[Cell, ...]]

_PURCHASES = 70
_OPEN_DAYS = 25  # a purchase younger than this may still be on its way


def supply(rows: Mapping[str, Rows], rng: random.Random, today: dt.date) -> dict[str, Rows]:
    """Rows of ``purchases`` and ``purchase_items``."""
    purchases: Rows = []
    items: Rows = []
    for number in range(1, _PURCHASES + 1):
        supplier = rng.randint(1, len(rows["suppliers"]))
        theirs = [product for product in rows["products"] if product[4] == supplier]
        ordered = today - dt.timedelta(days=rng.randint(3, 900))
        received = ordered + dt.timedelta(days=rng.randint(4, 24))
        open_ = (today - ordered).days < _OPEN_DAYS
        purchases.append(
            (
                number,
                supplier,
                rng.randint(1, 4),
                ordered.isoformat(),
                None if open_ else received.isoformat(),
            )
        )
        for product in rng.sample(theirs, min(len(theirs), rng.randint(1, 4))):
            items.append((len(items) + 1, number, product[0], rng.randint(5, 60), product[8]))
    return {"purchases": purchases, "purchase_items": items}
