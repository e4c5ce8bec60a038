"""A passage as quotable pieces, and the neighbours they cannot do without."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.answer.units import split_units, widened


def pieces(text):
    return [text[unit.start : unit.end] for unit in split_units(text)]


def kinds(text):
    return [unit.kind for unit in split_units(text)]


def around(text, start):
    """The text that goes with the piece that begins with ``start``."""
    units = split_units(text)
    place = next(n for n, unit in enumerate(units) if text[unit.start :].startswith(start))
    first, last = widened(text, units, place)
    return text[units[first].start : units[last].end]


def test_kinds_of_pieces():
    text = "## Отпуск\n\nДлится 28 дней. Это много.\n\n- раз\n- два\n\n| а | б |\n\n```sh\nls\ncd /\n```\n"
    assert kinds(text) == ["heading", "sentence", "sentence", "item", "item", "row", "code"]
    assert pieces(text)[-1] == "```sh\nls\ncd /\n```"


def test_a_chunk_that_begins_inside_code():
    assert kinds("ls\ncd /\n```\n\nПосле кода идёт текст.") == ["code", "sentence"]


def test_a_chunk_that_ends_inside_code():
    assert kinds("Так:\n\n```sh\nls\ncd /") == ["sentence", "code"]


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        # A sentence that opens with a pronoun needs the one before, and that one perhaps another.
        ("Склад закрыт. Это из-за ремонта.", "Это", "Склад закрыт. Это из-за ремонта."),
        (
            "Сервер стоит. Он ждёт. Поэтому жмите Пуск.",
            "Поэтому",
            "Сервер стоит. Он ждёт. Поэтому жмите Пуск.",
        ),
        ("The box is blue. It opens.", "It", "The box is blue. It opens."),
        ("Склад закрыт. Касса открыта.", "Касса", "Касса открыта."),
        # A line with a colon needs what it announces, an item the line that announces it.
        ("Нужны:\n\n- паспорт\n- СНИЛС\n\nПотом всё.", "Нужны", "Нужны:\n\n- паспорт\n- СНИЛС"),
        ("Нужны:\n\n- паспорт\n- СНИЛС\n", "- СНИЛС", "Нужны:\n\n- паспорт\n- СНИЛС"),
        ("Просто список.\n\n- паспорт\n- СНИЛС\n", "- СНИЛС", "- СНИЛС"),
        ("Запуск:\n\n```\nрун\n```\nДальше.", "Запуск", "Запуск:\n\n```\nрун\n```"),
        ("Запуск:\n\n```\nрун\n```\nДальше.", "```", "Запуск:\n\n```\nрун\n```"),
        # In an FAQ the answer follows the question.
        ("Где пропуск?\n\nУ охраны на входе.", "Где", "Где пропуск?\n\nУ охраны на входе."),
        ("| № | имя |\n| 1 | Иван |", "| 1", "| 1 | Иван |"),
    ],
)
def test_neighbours(text, start, expected):
    assert around(text, start) == expected


@given(st.text(alphabet="аб. :?\n-|`#Это", max_size=80))
def test_pieces_are_in_order_and_apart_and_widening_stays_inside(text):
    units = split_units(text)
    assert all(before.end <= after.start for before, after in pairwise(units))
    for place in range(len(units)):
        first, last = widened(text, units, place)
        assert 0 <= first <= place <= last < len(units)
