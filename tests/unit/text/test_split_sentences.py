"""Sentence borders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.sentences import split_sentences


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Это т.е. пример.", "А. С. Пушкин родился в 1799 г. в Москве.", "Он жил на ул. Ленина, д. 5."],
        ["Приказ от 5 марта 2024 г.", "Москва, ул. Тверская."],
        ["Версия 8.3.10 вышла.", "ГОСТ 12.1 действует.", "Цена 1.5 руб. за штуку."],
        ["«Да!» — сказал он.", "Что?!", "Конец…", "И ещё... потом."],
        ["Он купил хлеб, молоко и т.д.", "Затем ушёл."],
        ["Dr. Smith came, e.g. Monday.", "He paid $5.50.", "See fig. 3."],
        ["It was made by Acme Inc.", "The end."],
        ["«Первое предложение.»", "«Второе.»"],
        ["Историк Фредерик В. Мот писал об этом.", "In the U.S. Army it was so."],
        ["Он родился (ум. 1536).", "Вот . .", "И всё."],
        ["Он спросил: «Где?» и ушёл.", "(Так было.)", "Да."],
    ],
)
def test_sentences_of_one_line(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_list_items_and_table_rows_stand_alone() -> None:
    text = "Нужно:\n- паспорт\n- СНИЛС. Копия\n1. Первое\n2) второе\n\n| Долг. А | Оклад |\n| Б | 5 |"
    assert sentences(text) == [
        "Нужно:", "- паспорт", "- СНИЛС.", "Копия", "1. Первое", "2) второе",
        "| Долг. А | Оклад |", "| Б | 5 |",
    ]  # fmt: skip


def test_wrapped_lines_are_one_sentence() -> None:
    text = (
        "Отпуск предоставляется ежегодно всем работникам предприятия\nна основании заявления. Затем\nприказ."
    )
    assert sentences(text) == [
        "Отпуск предоставляется ежегодно всем работникам предприятия\nна основании заявления.",
        "Затем\nприказ.",
    ]


def test_short_lines_without_an_end_are_not_joined() -> None:
    assert sentences("Телефон: 123-45\nАдрес: Москва") == ["Телефон: 123-45", "Адрес: Москва"]


def test_a_number_in_mid_sentence_begins_no_list() -> None:
    assert sentences("Сварка смесью O\n2. Позже — иначе.") == ["Сварка смесью O\n2.", "Позже — иначе."]
    assert sentences("Шаги\n1. Раз\nдва\n2. Три") == ["Шаги", "1. Раз\nдва", "2. Три"]


def test_code_is_split_by_lines_only() -> None:
    text = "Пример:\n\n```bsl\nА = 1. Б;\nВозврат;\n```\nПосле. Конец."
    assert sentences(text) == ["Пример:", "```bsl", "А = 1. Б;", "Возврат;", "```", "После.", "Конец."]


def test_a_fence_inside_a_longer_fence_does_not_close_it() -> None:
    text = "````\n```\nа. Б\n```\n````\nВот. Да"
    assert sentences(text)[-2:] == ["Вот.", "Да"]


def test_sentences_of_languages_without_spaces() -> None:
    assert sentences("これは文です。次の文。") == ["これは文です。", "次の文。"]


@given(st.text(alphabet=st.sampled_from("аБ г.!?…\n-1)`«»#|е,"), max_size=120) | st.text(max_size=200))
def test_all_text_is_covered_in_order(text: str) -> None:
    spans = split_sentences(text)
    position = 0
    for start, end in spans:
        assert position <= start < end <= len(text)
        assert not text[position:start].strip()
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
        position = end
    assert not text[position:].strip()
