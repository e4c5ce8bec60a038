"""The same passage twice is one source; passages that differ in a number are two."""

import pytest

from pipeline.embedders.hash import HashEmbedder
from pipeline.retrieval.near_duplicates import without_near_duplicates

RULE = (
    "Заявление на отпуск подают начальнику отдела за две недели до начала отпуска, приказ готовит кадровик."
)


def kept(*texts):
    return without_near_duplicates(texts, HashEmbedder(256).encode(texts, "passage").vectors)


def test_a_copy_is_left_out_and_the_first_stays():
    assert kept(RULE, "Совсем другое", RULE.upper()) == [0, 1]


def test_one_word_more_is_still_the_same():
    assert kept(RULE, RULE + " Подробнее") == [0]


@pytest.mark.parametrize(
    ("one", "other"),
    [(" Срок 14 дней.", " Срок 28 дней."), (" Форма УПД-5.", " Форма УПД-6."), (" v8.3.14", " v8.3.15")],
)
def test_another_number_or_code_is_another_passage(one, other):
    assert kept(RULE + one, RULE + other) == [0, 1]


def test_the_same_words_said_otherwise_often_are_two():
    assert kept("да", "да да да да") == [0, 1]


def test_nothing():
    assert kept() == []
