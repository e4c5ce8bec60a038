"""The demo shop: 22 related tables, 5,000 rows, equal in every run; what happens in it, happens in order."""

from __future__ import annotations

import datetime as dt
import random
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from pipeline.sql.demo.shop_goods import goods
from pipeline.sql.demo.shop_people import customers, employees
from pipeline.sql.demo.shop_sales import sales
from pipeline.sql.demo.shop_supply import supply
from pipeline.sql.demo.tables import Cell, MadeTable, columns

__all__ = ["TODAY", "shop_tables", "shop_words"]

TODAY = dt.date(2025, 7, 15)
"""The day on which the demo's questions are asked; nothing in the shop is later."""

_SCHEMA = {
    "brands": "id:id name:text country:text",
    "categories": "id:id name:text parent_id:id>categories",
    "suppliers": "id:id name:text city:text since:date",
    "carriers": "id:id name:text",
    "departments": "id:id name:text",
    "warehouses": "id:id name:text city:text area_m2:int",
    "promotions": "id:id name:text starts_on:date ends_on:date percent:int",
    "employees": "id:id name:text department_id:id>departments position:text hired_on:date salary:money "
    "manager_id:id>employees",
    "customers": "id:id name:text city:text segment:text registered_on:date email:text phone:text",
    "products": "id:id name:text category_id:id>categories brand_id:id>brands supplier_id:id>suppliers "
    "category:text brand:text price:money purchase_price:money weight_kg:money warranty_months:int "
    "added_on:date in_catalog:flag description:text",
    "stock": "id:id product_id:id>products warehouse_id:id>warehouses quantity:int",
    "price_changes": "id:id product_id:id>products changed_on:date old_price:money new_price:money",
    "promotion_products": "id:id promotion_id:id>promotions product_id:id>products",
    "orders": "id:id customer_id:id>customers employee_id:id>employees promotion_id:id>promotions "
    "status:text delivery_method:text ordered_on:date total:money",
    "order_items": "id:id order_id:id>orders product_id:id>products quantity:int price:money",
    "payments": "id:id order_id:id>orders method:text amount:money paid_on:date",
    "shipments": "id:id order_id:id>orders warehouse_id:id>warehouses carrier_id:id>carriers "
    "shipped_on:date delivered_on:date cost:money",
    "returns": "id:id order_item_id:id>order_items returned_on:date reason:text refund:money",
    "reviews": "id:id product_id:id>products customer_id:id>customers rating:int written_on:date body:text",
    "purchases": "id:id supplier_id:id>suppliers warehouse_id:id>warehouses ordered_on:date received_on:date",
    "purchase_items": "id:id purchase_id:id>purchases product_id:id>products quantity:int price:money",
    "support_tickets": "id:id customer_id:id>customers employee_id:id>employees topic:text opened_on:date "
    "closed_on:date body:text",
}

Rows = list[tuple[Cell, ...]]


def shop_tables(seed: int = 2025) -> list[MadeTable]:
    """The 22 tables in an order in which each can be filled; equal for equal seeds."""
    rng = random.Random(seed)  # noqa: S311 -- made-up data, the same every time
    words = shop_words()
    rows: dict[str, Rows] = _lists(words)
    rows |= goods(words, rng, TODAY)
    rows["employees"] = employees(words, rng, TODAY)
    rows["customers"] = customers(words, rng, TODAY)
    rows |= supply(rows, rng, TODAY)
    rows |= sales(rows, words, rng, TODAY)
    return [MadeTable(name, columns(schema), tuple(rows[name])) for name, schema in _SCHEMA.items()]


@cache
def shop_words() -> dict[str, Any]:
    """The words the shop is made of."""
    raw = resources.files(__package__).joinpath("shop.toml").read_text(encoding="utf-8")
    return tomllib.loads(raw)


def _lists(words: Mapping[str, Any]) -> dict[str, Rows]:
    parents = list(dict.fromkeys(category["parent"] for category in words["category"]))
    categories: Rows = [(number, name, None) for number, name in enumerate(parents, start=1)]
    for category in words["category"]:
        categories.append((len(categories) + 1, category["name"], parents.index(category["parent"]) + 1))
    cities: Sequence[str] = words["cities"]
    return {
        "brands": [(number, *brand) for number, brand in enumerate(words["brands"], start=1)],
        "categories": categories,
        "suppliers": [
            (
                number,
                name,
                cities[number * 3 % len(cities)],
                f"20{12 + number}-0{1 + number % 9}-1{number % 9}",
            )
            for number, name in enumerate(words["suppliers"], start=1)
        ],
        "carriers": [(number, name) for number, name in enumerate(words["carriers"], start=1)],
        "departments": [(number, name) for number, name in enumerate(words["departments"], start=1)],
        "warehouses": [
            (1, "Центральный склад", "Москва", 4200),
            (2, "Северный склад", "Санкт-Петербург", 1800),
            (3, "Волжский склад", "Казань", 1500),
            (4, "Уральский склад", "Екатеринбург", 2100),
        ],
        "promotions": [(number, *row) for number, row in enumerate(words["promotions"], start=1)],
    }
