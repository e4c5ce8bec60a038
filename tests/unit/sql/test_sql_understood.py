"""What words of a question mean in a database, and how sure that is."""

import datetime as dt
from dataclasses import replace

import pytest
from sql_shop import SHOP, column, table

from pipeline.sql.understood import words_of

DAY = dt.date(2025, 7, 15)
PERM = replace(
    SHOP,
    fingerprint="f2",
    tables={
        **SHOP.tables,
        "people": table("people", [column("post", "category", "должность", values=["Заказы", "Монтажник"])]),
    },
)


def meant(question, catalog=PERM):
    return {value.value: value.sure for value in words_of(question, catalog, DAY).values}


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Сколько клиентов из Казани?", {"Казань": True}),
        ("Сколько получает каждый монтажник?", {"Монтажник": False}),
        ("Сколько зарабатывает монтажник?", {"Монтажник": True}),
        ("Сколько заказов?", {}),  # the table, whatever a post is called
        ("Сколько людей с должностью «Заказы»?", {"Заказы": True}),
        ("Сколько заказов в первом полугодии 2025 года?", {}),  # a time, however near «Пермь» is
    ],
)
def test_stored_values(question, values):
    assert meant(question) == values


def test_times_bounds_and_bare_numbers():
    words = words_of("Сколько заказов дороже 500 за 2024 год у 7 клиентов?", SHOP, DAY)
    assert [(period.start, period.end) for period in words.periods] == [("2024-01-01", "2025-01-01")]
    assert [(amount.operator, amount.number) for amount in words.amounts] == [(">", "500"), ("", "7")]
    assert words_of("Топ-5 клиентов", SHOP, DAY).amounts == ()


def test_names_that_no_value_is_known_for():
    assert words_of("Сколько заказов у «Иванов и К»?", SHOP, DAY).names == ("Иванов и К",)


def test_all_of_it_in_few_words():
    said = words_of("Сколько клиентов из Казани за 2024 год дороже 5?", SHOP, DAY).said()
    assert "Казани = customers.city: Казань" in said
    assert "2024-01-01…2025-01-01" in said
