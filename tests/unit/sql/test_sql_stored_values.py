"""Stored values that a question names, declined, in part and misspelt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.sql.catalog import Catalog, Column, Table
from pipeline.sql.distances import distance_within
from pipeline.sql.stored_values import values_in


def table(name: str, column: str, *values: str, synonyms: tuple[str, ...] = ()) -> Table:
    return Table(name, (Column(column, "TEXT", "category", values=values),), synonyms=synonyms)


CATALOG = Catalog(
    "shop",
    "sqlite",
    {
        item.name: item
        for item in (
            table("departments", "name", "Отдел продаж", "Отдел закупок", "Склад"),
            table("customers", "city", "Самара", "Нижний Новгород", "Екатеринбург"),
            table("suppliers", "city", "Самара"),
            table("orders", "status", "новый", "отменён", synonyms=("заказы",)),
            table("returns", "reason", "брак", "не тот товар"),
            table("products", "brand", "Щелкунчик", "Шмидт и сын", "Вятка-Дом", synonyms=("товары",)),
            table("articles", "author", "Любовь Щекочихина", "Никанор Шестопёров", "Всеволод Иевлев"),
        )
    },
)


def read(question: str) -> list[tuple[str, str]]:
    return [(named.said, named.candidates[0].value) for named in values_in(question, CATALOG)]


@pytest.mark.parametrize(
    ("question", "said", "value"),
    [
        ("Сколько людей по отделу продаж?", "отделу продаж", "Отдел продаж"),
        ("покупатели из Нижнего Новгорода", "Нижнего Новгорода", "Нижний Новгород"),
        ("заказы, которые были отменены", "отменены", "отменён"),
        ("марка «Щелкунчег»", "Щелкунчег", "Щелкунчик"),
        ("товары Шмидта и сына", "Шмидта и сына", "Шмидт и сын"),
        ("из Екатеринбрга", "Екатеринбрга", "Екатеринбург"),
        ("статьи Щекачихиной", "Щекачихиной", "Любовь Щекочихина"),
        ("что писал Никанор Шестаперов", "Никанор Шестаперов", "Никанор Шестопёров"),
        ("у Всеволода Иевлева", "Всеволода Иевлева", "Всеволод Иевлев"),
        ("вятка дом", "вятка дом", "Вятка-Дом"),
        ("возвраты из-за брака", "брака", "брак"),
    ],
)
def test_a_declined_or_misspelt_value_is_found(question, said, value):
    assert read(question) == [(said, value)]


@pytest.mark.parametrize(
    "question", ["Сколько всего товаров?", "заказы за год", "трубы и краны", "Сколько человек?", "", "отделы"]
)
def test_words_of_the_schema_and_strangers_name_no_value(question):
    assert read(question) == []


def test_a_value_of_several_columns_names_them_all_equally():
    (named,) = values_in("сколько в Самаре?", CATALOG)
    assert [(item.table, item.value, item.score) for item in named.candidates] == [
        ("customers", "Самара", 1),
        ("suppliers", "Самара", 1),
    ]


def test_a_full_name_scores_above_a_part_and_a_part_above_a_wrong_letter():
    def score(question: str) -> float:
        return values_in(question, CATALOG)[0].candidates[0].score

    assert score("Любови Щекочихиной") == 1
    assert 1 > score("Щекочихиной") > score("Щекачихиной") > 0


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [("кот", "кот", 0), ("кот", "кто", 1), ("кот", "кит", 1), ("кот", "крот", 1), ("казань", "рязань", 2)],
)
def test_the_distance_of_words(first, second, distance):
    assert distance_within(first, second, 2) == distance


@given(st.text("абвг", max_size=7), st.text("абвг", max_size=7))
def test_the_distance_is_the_same_both_ways_and_bounded(first, second):
    found = distance_within(first, second, 3)
    assert found == distance_within(second, first, 3)
    assert found is None or (found <= 3 and (found == 0) == (first == second))


@given(st.text(max_size=80))
def test_any_question_is_read(text):
    for named in values_in(text, CATALOG):
        assert text[named.start : named.end] == named.said
