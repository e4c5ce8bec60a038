"""Amounts in words as bounds."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.sql.amounts import amounts_in


def read(question: str) -> list[tuple[str, Decimal]]:
    return [(amount.operator, amount.number) for amount in amounts_in(question)]


@pytest.mark.parametrize(
    ("question", "bounds"),
    [
        ("больше 10 тысяч", [(">", 10_000)]),
        ("дороже полутора миллионов рублей", [(">", 1_500_000)]),
        ("не дороже 5 тыс. рублей", [("<=", 5000)]),
        ("не менее 100", [(">=", 100)]),
        ("от 10 до 20 тысяч", [(">=", 10_000), ("<=", 20_000)]),
        ("от 2 до 5 звёзд", [(">=", 2), ("<=", 5)]),
        ("между 5 и 10 кг", [(">=", 5), ("<=", 10)]),
        ("более двух с половиной миллионов", [(">", 2_500_000)]),
        ("оценка ниже 3", [("<", 3)]),
        ("до 5 тысяч рублей", [("<=", 5000)]),
        ("больше 1 500 000", [(">", 1_500_000)]),
        ("свыше полмиллиона", [(">", 500_000)]),
        ("хотя бы 3 раза", [(">=", 3)]),
        ("ровно 24 месяца", [("=", 24)]),
        ("дороже 9,5 рублей", [(">", Decimal("9.5"))]),
        ("больше ста заказов", [(">", 100)]),
        ("старше пяти лет", [(">", 5)]),
        ("дешевле 60 тысяч и легче 5 кг", [("<", 60_000), ("<", 5)]),
        ("over 10k", [(">", 10_000)]),
        ("at least 3 stars", [(">=", 3)]),
        ("between 5 and 10 thousand", [(">=", 5000), ("<=", 10_000)]),
        ("больше 2023 рублей", [(">", 2023)]),
    ],
)
def test_words_of_size_are_bounds(question, bounds):
    assert read(question) == bounds


@pytest.mark.parametrize(
    "question",
    ["до 2022 года", "с 2021 по 2023", "с 5 по 12 марта", "больше всего покупателей", "с 5 по 12 число", ""],
)
def test_times_and_superlatives_are_no_amounts(question):
    assert read(question) == []


def test_the_words_and_the_unit_are_kept():
    (amount,) = amounts_in("Товары ДОРОЖЕ 5 тыс. рублей")
    assert (amount.said, amount.unit) == ("ДОРОЖЕ 5 тыс.", "рублей")


@given(st.integers(0, 10**9))
def test_digits_with_and_without_spaces_are_one_number(number):
    spaced = f"{number:,}".replace(",", " ")
    assert read(f"больше {number}") == read(f"больше {spaced}") == [(">", number)]


@given(st.text(alphabet="большедтысячмлн 0123456789,.-", max_size=50))
def test_any_text_is_read_without_failing(text):
    for amount in amounts_in(text):
        assert amount.number.is_finite()
