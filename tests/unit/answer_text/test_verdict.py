"""«Да» and «нет» at the beginning of an answer."""

import pytest

from pipeline.answer.verdict import agrees, split_verdict


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Да, отпуск делят [1].", ("Да,", "отпуск делят [1].")),
        ("Нет. Отпуск не делят.", ("Нет.", "Отпуск не делят.")),
        ("Да [1]. Отпуск делят.", ("Да.", "Отпуск делят.")),
        ("Yes — leave may be split.", ("Yes —", "leave may be split.")),
        ("no", ("no", "")),
        ("Да.", ("Да.", "")),
        ("Нет необходимости делить отпуск.", ("", "Нет необходимости делить отпуск.")),
        ("No more than two parts.", ("", "No more than two parts.")),
        ("Данные лежат в файле.", ("", "Данные лежат в файле.")),
        ("Отпуск, да, делят.", ("", "Отпуск, да, делят.")),
    ],
)
def test_a_verdict_is_a_word_with_a_stop_behind_it(text: str, parts: tuple[str, str]) -> None:
    assert split_verdict(text) == parts


@pytest.mark.parametrize(
    ("verdict", "sentence", "fits"),
    [
        ("Да,", "отпуск делят.", True),
        ("Да,", "отпуск не делят.", False),
        ("Нет.", "Отпуск не делят.", True),
        ("Нет.", "Делить отпуск запрещено.", True),
        ("Нет,", "отпуск делят.", False),
        ("No,", "avoid splitting it.", True),
        ("Yes.", "It cannot be split.", False),
    ],
)
def test_a_verdict_agrees_with_a_sentence_that_negates_as_it_does(
    verdict: str, sentence: str, fits: bool
) -> None:
    assert agrees(verdict, sentence) is fits
