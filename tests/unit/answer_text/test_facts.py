"""Numbers, dates, codes and quoted names: found by form, compared by meaning."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.answer.fact_source import FactSource
from pipeline.answer.facts import find_facts
from pipeline.text.numerals import number_keys, word_values


def _found(text: str) -> list[tuple[str, str]]:
    return [(fact.kind, text[fact.start : fact.end]) for fact in find_facts(text)]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Отпуск длится 28 дней.", [("number", "28")]),
        ("Цена 45 000 руб. и 3,5 %", [("number", "45 000"), ("number", "3,5")]),
        ("с 10–20 по 28-й, вес 5кг", [("number", "10"), ("number", "20"), ("number", "28"), ("number", "5")]),
        ("Приказ УПД-5 и ГОСТ 12.1", [("code", "УПД-5"), ("number", "12.1")]),
        ("Ошибка ERR_42 в cachedValueNames", [("code", "ERR_42"), ("code", "cachedValueNames")]),
        ("Версия 8.3.14, ключ --analyze", [("code", "8.3.14"), ("code", "--analyze")]),
        ("файл bsl-ls.sarif или `reset`", [("code", "bsl-ls.sarif"), ("code", "`reset`")]),
        ("до 5 мая 2024 года", [("date", "5 мая 2024")]),
        ("01.02.2023 и 2023-02-01", [("date", "01.02.2023"), ("date", "2023-02-01")]),
        ("on May 5, 2024 or the 3rd of June", [("date", "May 5, 2024"), ("date", "3rd of June")]),
        ("в 18:00", [("code", "18:00")]),
        ("двадцать пять и сто двадцать три", [("number", "двадцать пять"), ("number", "сто двадцать три")]),
        ("twenty-five of them", [("number", "twenty-five")]),
        ("завод «Заря» и \"Восток\"", [("name", "«Заря»"), ("name", '"Восток"')]),
        ("Один раз из-за него. И так далее.", []),
        ("", []),
    ],
)  # fmt: skip
def test_facts_of_a_text(text: str, facts: list[tuple[str, str]]) -> None:
    assert _found(text) == facts


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("28", "Отпуск — двадцать восемь дней"),
        ("двадцать восемь", "Отпуск — 28 дней"),
        ("четыре", "с четырьмя попаданиями"),
        ("45 000", "оклад 45000 рублей"),
        ("45 000", "a salary of 45,000"),
        ("5000", "около 5 тыс. рублей"),
        ("5 тыс.", "5 000 рублей"),
        ("3.5", "на 3,5 процента"),
        ("2,0", "версия 2"),
        ("УПД-5", "документ УПД\u20135"),
        ("1С:ERP", "программа 1C:ERP"),
        ("err_42", "ошибка ERR_42."),
        ("5 мая 2024", "с 05.05.2024"),
        ("5 мая", "5 мая 2024 года"),
        ("5 мая 2024", "Отчёт за 2024 год. Срок — 5 мая."),
        ("May 5, 2024", "5 мая 2024"),
        ("2024", "01.02.2024"),
        ("18:00", "до 18.00"),
        ("«Заря»", "на заводе «Зарю» купили"),
        ("«Учёт мёда»", "раздел Учет меда"),
        ("`app.cache`", "ключ app.cache задаёт"),
        ("8.3", "начиная с 8.3.14"),
    ],
)
def test_the_same_fact_in_another_dress(answer: str, source: str) -> None:
    (fact,) = find_facts(answer)
    assert FactSource(source).holds(fact)


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("28", "Отпуск — 14 дней"),
        ("28", "280 дней"),
        ("двадцать восемь", "двадцать дней"),
        ("45 000", "45 рублей"),
        ("УПД-5", "документ УПД-55"),
        ("УПД-5", "документы УПД-6 и 5"),
        ("err_42", "ERR_421"),
        ("5 мая 2024", "5 июня 2024"),
        ("5 мая 2024", "5 мая 2023"),
        ("18:00", "в 18 часов"),
        ("«Заря»", "завод «Восток»"),
        ("8.3.14", "версия 8.3.1"),
        ("cachedValueNames", "cachedValue"),
    ],
)
def test_another_fact(answer: str, source: str) -> None:
    (fact,) = find_facts(answer)
    assert not FactSource(source).holds(fact)


@given(st.text(max_size=80))
def test_a_text_holds_its_own_facts(text: str) -> None:
    facts = find_facts(text)
    source = FactSource(text)
    assert all(source.holds(fact) for fact in facts)
    assert all(0 <= fact.start < fact.end <= len(text) for fact in facts)


@given(st.integers(0, 10**7))
def test_a_number_is_the_same_with_and_without_spaces(number: int) -> None:
    spaced = f"{number:,}".replace(",", " ")
    assert number_keys(spaced) == number_keys(str(number)) == {str(number)}


def test_number_words() -> None:
    words = word_values()
    assert (words["семнадцатью"], words["сорока"], words["девятисот"], words["fifty"]) == (17, 40, 900, 50)
    assert "один" not in words
    assert "семью" not in words


def test_thousands_by_comma_may_be_a_decimal() -> None:
    assert number_keys("45,000") == {"45", "45000"}
    assert number_keys("2,5", " млн рублей") == {"2.5", "2500000"}
