"""Citation markers, however a model writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.answer.markers import split_statements, write_markers


def _read(text: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(one.text, one.numbers) for one in split_statements(text, {1, 2, 3})]


@pytest.mark.parametrize(
    "written",
    [
        "Отпуск длится 28 дней [1].",
        "Отпуск длится 28 дней. [1]",
        "Отпуск длится 28 дней[1].",
        "[1] Отпуск длится 28 дней.",
        "Отпуск длится 28 дней [ 1 ].",
        "Отпуск длится 28 дней [Источник 1].",
        "Отпуск длится 28 дней (источник 1).",
        "Отпуск длится 28 дней [source: 1].",
        "Отпуск длится 28 дней 【1】.",
        "Отпуск длится 28 дней [^1].",
        "Отпуск длится 28 дней [1](https://example.invalid).",
        'Отпуск длится 28 дней <source n="1">[1].',
        "Отпуск длится 28 дней [1][1][7].",
    ],
)
def test_one_marker(written: str) -> None:
    assert _read(written) == [("Отпуск длится 28 дней.", (1,))]


@pytest.mark.parametrize(
    "written",
    ["[1, 2]", "[2][1]", "[1-2]", "[1 и 2]", "[1; 2]", "[№1, №2]", "[1], [2]", "[1]; [2]", "[1] и [2]"],
)
def test_two_sources(written: str) -> None:
    assert _read(f"Так сказано {written}.") == [("Так сказано.", (1, 2))]


def test_unknown_numbers_go() -> None:
    assert _read("Так [7]. И так [0], [12].") == [("Так.", ()), ("И так.", ())]


def test_each_sentence_keeps_its_own() -> None:
    text = (
        "Отпуск — 28 дней [1]. Заявление подают заранее. [2]\n- первый пункт [3]\n- второй пункт\n[1] Конец."
    )
    assert _read(text) == [
        ("Отпуск — 28 дней.", (1,)),
        ("Заявление подают заранее.", (2,)),
        ("- первый пункт", (3,)),
        ("- второй пункт", ()),
        ("Конец.", (1,)),
    ]


def test_an_index_in_code_is_no_marker() -> None:
    assert _read("Элемент `a[1]` и Массив[0] берут так [2].") == [
        ("Элемент `a[1]` и Массив[0] берут так.", (2,))
    ]


def test_only_markers_or_nothing() -> None:
    assert _read("[1]") == []
    assert _read(" \n ") == []


def test_written_before_the_full_stop() -> None:
    assert write_markers("Отпуск длится 28 дней.", (1, 3)) == "Отпуск длится 28 дней [1][3]."
    assert write_markers("Это «Заря».", (1,)) == "Это «Заря» [1]."
    assert write_markers("- пункт", (2,)) == "- пункт [2]"
    assert write_markers("Так.", ()) == "Так."


@given(st.text("аб .!\n[]123(,)`", max_size=60))
def test_what_is_written_is_read_back(text: str) -> None:
    first = split_statements(text, {1, 2, 3})
    again = "".join(one.lead + write_markers(one.text, one.numbers) for one in first)
    words = [one.text for one in split_statements(again, {1, 2, 3})]
    assert all(number in {1, 2, 3} for one in first for number in one.numbers)
    assert "".join(words).count("б") == text.count("б")


def test_a_block_of_code_is_one_statement_and_bears_its_marker_before_it() -> None:
    """A marker inside would be copied with the code."""
    text = "Запустите команду [2]:\n\n```sh\n./gradlew precommit\nx = a[1]\n```"
    first, code = split_statements(text, {1, 2})
    assert (first.text, first.numbers) == ("Запустите команду:", (2,))
    assert code.text == "```sh\n./gradlew precommit\nx = a[1]\n```"
    assert write_markers(code.text, (2,)) == f"[2]\n{code.text}"
