"""Cleaning of documents and questions."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.normalise import clean_question, clean_text, fold

ANY_TEXT = st.text(alphabet=st.characters())  # surrogates too


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("один\r\nдва\rтри\nчетыре", "один\nдва\nтри\nчетыре"),
        ("\ufeffОтпуск", "Отпуск"),
        ("Возврат това\x00ра 14 дней", "Возврат товара 14 дней"),
        ("45\xa0000", "45 000"),
        ("пере\xadнос", "перенос"),
        ("е\u0308лка и\u0306", "ёлка й"),
        ("\ud83d", "\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("строка  \nвторая\t\n", "строка\nвторая\n"),
        ("колонка\tдругая", "колонка\tдругая"),
        ("\u202eобман\u202c", "обман"),
    ],
)
def test_each_kind_of_dirt_is_cleaned(raw: str, clean: str) -> None:
    """Cases 3, 5, 6, 11."""
    assert clean_text(raw) == clean


@given(ANY_TEXT)
def test_cleaning_is_idempotent_and_leaves_valid_unicode(text: str) -> None:
    clean = clean_text(text)
    assert clean_text(clean) == clean
    assert unicodedata.is_normalized("NFC", clean)
    assert not set(clean) & set("\r\x00\ufeff\u2028")
    clean.encode()


@given(ANY_TEXT)
def test_a_question_is_one_line(text: str) -> None:
    clean = clean_question(text)
    assert clean == clean.strip()
    assert "\n" not in clean
    assert "  " not in clean


def test_words_are_compared_without_case_and_yo() -> None:
    """Case 13."""
    assert fold("УЧЁТ МЁДА") == fold("учет меда") == "учет меда"
