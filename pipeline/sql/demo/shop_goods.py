"""Products of the demo shop, their prices over time, and how many lie where."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping
from typing import Any

from pipeline.sql.demo.tables import Cell

__all__ = ["goods"]

Rows = list[tuple[Cell, ...]]

_PRODUCTS = 200
_PARENTS = 4  # categories that only hold others come first


def goods(words: Mapping[str, Any], rng: random.Random, today: dt.date) -> dict[str, Rows]:
    """Rows of ``products``, ``stock``, ``price_changes`` and ``promotion_products``."""
    products = _products(words, rng, today)
    stock: Rows = []
    changes: Rows = []
    for product in products:
        for warehouse in sorted(rng.sample(range(1, 5), 2)):
            quantity = 0 if rng.random() < 0.12 else rng.randint(1, 90)
            stock.append((len(stock) + 1, product[0], warehouse, quantity))
        if rng.random() < 0.6:
            price = float(str(product[7]))
            before = round(price * rng.uniform(0.8, 1.2) / 10) * 10
            day = today - dt.timedelta(days=rng.randint(20, 700))
            changes.append((len(changes) + 1, product[0], day.isoformat(), before, product[7]))
    promoted: Rows = []
    for promotion in range(1, len(words["promotions"]) + 1):
        for number in sorted(rng.sample(range(1, _PRODUCTS + 1), 5)):
            promoted.append((len(promoted) + 1, promotion, number))
    return {
        "products": products,
        "stock": stock,
        "price_changes": changes,
        "promotion_products": promoted,
    }


def _products(words: Mapping[str, Any], rng: random.Random, today: dt.date) -> Rows:
    made: Rows = []
    names: set[str] = set()
    while len(made) < _PRODUCTS:
        place = len(made) % len(words["category"])
        category = words["category"][place]
        brand = rng.randrange(len(words["brands"]))
        kind = rng.choice(category["kinds"])
        name = f"{kind} {words['brands'][brand][0]} {rng.choice(words['models'])}"
        if name in names:
            continue
        names.add(name)
        price = round(rng.uniform(*category["price"]) / 10) * 10
        made.append(
            (
                len(made) + 1,
                name,
                _PARENTS + place + 1,
                brand + 1,
                rng.randint(1, len(words["suppliers"])),
                category["name"],
                words["brands"][brand][0],
                price,
                round(price * rng.uniform(0.55, 0.8) / 10) * 10,
                round(rng.uniform(*category["weight"]), 1),
                rng.choice([6, 12, 12, 24, 24, 36]),
                (today - dt.timedelta(days=rng.randint(30, 1400))).isoformat(),
                int(rng.random() > 0.07),
                _description(name, category["features"], words["closing"], rng),
            )
        )
    return made


def _description(name: str, features: Mapping[str, list[str]], closing: list[str], rng: random.Random) -> str:
    first = rng.sample(features["first"], 2)
    second = rng.sample(features["second"], 2)
    lead = f"{name}: {first[0]}. {second[0]}"
    return f"{lead}\n\nКроме того, эта модель {first[1]}. {second[1]} {rng.choice(closing)}"
