"""Orders of the demo shop and what follows from them: payments, shipments, returns, reviews, tickets."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping
from typing import Any

from pipeline.sql.demo.tables import Cell

__all__ = ["sales"]

Rows = list[tuple[Cell, ...]]

_ORDERS = 660
_REVIEWS = 210
_TICKETS = 80
_RETURN_SHARE = 0.06
ALL_ROWS = 5000
_BAD = 3  # a review of so many stars or fewer complains


def sales(
    rows: Mapping[str, Rows], words: Mapping[str, Any], rng: random.Random, today: dt.date
) -> dict[str, Rows]:
    """Rows of the tables of sales; the last orders have so many items that all tables hold `ALL_ROWS`."""
    maker = _Sales(rows, words, rng, today)
    for number in range(1, _ORDERS + 1):
        maker.order(number)
    maker.returns()
    maker.reviews()
    maker.tickets()
    held = sum(map(len, rows.values())) + sum(map(len, maker.made.values()))
    maker.fill(ALL_ROWS - held)
    maker.total()
    return maker.made


class _Sales:
    def __init__(
        self, rows: Mapping[str, Rows], words: Mapping[str, Any], rng: random.Random, today: dt.date
    ) -> None:
        self._rows, self._words, self._rng, self._today = rows, words, rng, today
        names = ("orders", "order_items", "payments", "shipments", "returns", "reviews", "support_tickets")
        self.made: dict[str, Rows] = {name: [] for name in names}
        self._sellers = [row[0] for row in rows["employees"] if row[2] == 1]
        self._first = today - dt.timedelta(days=925)

    def order(self, number: int) -> None:
        """One order with its items, payment and shipment; orders come in the order of their days."""
        rng, made = self._rng, self.made
        day = self._first + dt.timedelta(days=round(number * 924 / _ORDERS))
        buyer = rng.choice([row for row in self._rows["customers"] if str(row[4]) <= day.isoformat()])
        age = (self._today - day).days
        status = rng.choices(self._words["statuses"], self._weights(age))[0]
        promotion = self._promotion(day) if rng.random() < 0.6 else None
        method = rng.choice(self._words["delivery"])
        made["orders"].append(
            (number, buyer[0], rng.choice(self._sellers), promotion, status, method, day.isoformat(), 0)
        )
        for _ in range(rng.choices([1, 2, 3, 4], [4, 4, 2, 1])[0]):
            self._item(number)
        if status in ("оплачен", "отгружен", "доставлен"):
            paid = min(day + dt.timedelta(days=rng.randint(0, 4)), self._today)
            kind = rng.choices(self._words["payment_methods"], [6, 2, 2, 1])[0]
            made["payments"].append((len(made["payments"]) + 1, number, kind, 0, paid.isoformat()))
        if status in ("отгружен", "доставлен"):
            self._shipment(number, day, status, method)

    def _promotion(self, day: dt.date) -> Cell:
        """The promotion that runs on a day."""
        for number, _, start, end, _ in self._rows["promotions"]:
            if str(start) <= day.isoformat() <= str(end):
                return number
        return None

    def _weights(self, age: int) -> list[int]:
        if age < 10:
            return [5, 3, 2, 0, 1]
        return [0, 1, 1, 16, 2] if age > 40 else [0, 2, 4, 8, 1]

    def _item(self, order: int) -> None:
        product = self._rng.choice(self._rows["products"])
        quantity = self._rng.choices([1, 2, 3, 5], [12, 4, 2, 1])[0]
        items = self.made["order_items"]
        items.append((len(items) + 1, order, product[0], quantity, product[7]))

    def _shipment(self, order: int, day: dt.date, status: str, method: str) -> None:
        rng, made = self._rng, self.made["shipments"]
        shipped = min(day + dt.timedelta(days=rng.randint(1, 6)), self._today)
        delivered = None
        if status == "доставлен":
            delivered = min(shipped + dt.timedelta(days=rng.randint(1, 12)), self._today).isoformat()
        carrier = 5 if method == "самовывоз" else rng.randint(1, 4)
        cost = 0 if carrier == 5 else rng.randint(15, 240) * 10
        made.append((len(made) + 1, order, rng.randint(1, 4), carrier, shipped.isoformat(), delivered, cost))

    def returns(self) -> None:
        """Some items of delivered orders come back."""
        rng, made = self._rng, self.made["returns"]
        days = {row[1]: row[5] for row in self.made["shipments"] if row[5]}
        for item in self.made["order_items"]:
            day = days.get(item[1])
            if day is None or rng.random() > _RETURN_SHARE:
                continue
            back = dt.date.fromisoformat(str(day)) + dt.timedelta(days=rng.randint(1, 14))
            refund = float(str(item[3])) * float(str(item[4]))
            reason = rng.choices(self._words["return_reasons"], [5, 1, 3, 3, 1])[0]
            made.append((len(made) + 1, item[0], min(back, self._today).isoformat(), reason, round(refund)))

    def reviews(self) -> None:
        """Buyers judge products; few stars complain."""
        rng, made = self._rng, self.made["reviews"]
        for number in range(1, _REVIEWS + 1):
            rating = rng.choices([1, 2, 3, 4, 5], [1, 1, 2, 5, 8])[0]
            kind = "review_bad" if rating <= _BAD else "review_good"
            text = " ".join(rng.sample(self._words[kind], 2))
            day = self._today - dt.timedelta(days=rng.randint(1, 800))
            product = rng.randint(1, len(self._rows["products"]))
            buyer = rng.randint(1, len(self._rows["customers"]))
            made.append((number, product, buyer, rating, day.isoformat(), text))

    def tickets(self) -> None:
        """Questions and complaints, the youngest still open."""
        rng, made = self._rng, self.made["support_tickets"]
        staff = [row[0] for row in self._rows["employees"] if row[2] == 3]
        for number in range(1, _TICKETS + 1):
            day = self._today - dt.timedelta(days=rng.randint(1, 500))
            closed = day + dt.timedelta(days=rng.randint(0, 15))
            made.append(
                (
                    number,
                    rng.randint(1, len(self._rows["customers"])),
                    rng.choice(staff),
                    rng.choice(self._words["ticket_topics"]),
                    day.isoformat(),
                    closed.isoformat() if closed < self._today else None,
                    rng.choice(self._words["ticket_texts"]),
                )
            )

    def fill(self, missing: int) -> None:
        """More items for orders that nothing has come of yet, or that have been called off."""
        if missing < 0:
            raise ValueError(missing)
        numbers = [row[0] for row in self.made["orders"] if row[4] in ("новый", "отменён", "оплачен")]
        for place in range(missing):
            self._item(int(str(numbers[place % len(numbers)])))

    def total(self) -> None:
        """Sums of orders and payments, from the items."""
        sums: dict[Cell, float] = {}
        for item in self.made["order_items"]:
            sums[item[1]] = sums.get(item[1], 0) + float(str(item[3])) * float(str(item[4]))
        percents = {row[0]: float(str(row[4])) for row in self._rows["promotions"]}
        totals = {
            row[0]: round(sums[row[0]] * (100 - percents.get(row[3], 0)) / 100) for row in self.made["orders"]
        }
        self.made["orders"] = [(*row[:7], totals[row[0]]) for row in self.made["orders"]]
        self.made["payments"] = [
            (row[0], row[1], row[2], totals[row[1]], row[4]) for row in self.made["payments"]
        ]
