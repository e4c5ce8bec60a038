"""Answers against right ones, as Russian needs it."""

import pytest

from pipeline.evaluation.answer_match import shows, word_scores


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Отпуск длится 28 ДНЕЙ.", "28 дней"),
        ("Ещё три", "еще три"),
        ("Стоит 45\u00a0000 рублей", "45000 рублей"),
        ("Стоит 45000 рублей", "45 000"),
        ("Папка «Кадры — приказы»", "кадры - приказы"),
        ("Файл `bsl-ls.sarif`", "bsl-ls.sarif"),
        ("в две\n строки", "две строки"),
    ],
)
def test_spellings_of_the_same(said, answer):
    assert shows(said, [answer])


def test_what_is_not_there():
    assert not shows("Отпуск длится 28 дней", ["29 дней", "месяц"])
    assert not shows("от 1 000", ["1 0"])


def test_f1_and_recall_by_hand():
    # said: отпуск, длит, 28, дней; right: 28, дней -> precision 2/4, recall 1.
    f1, recall = word_scores("Отпуск длится 28 дней", ["28 дней"])
    assert recall == 1.0
    assert f1 == pytest.approx(2 * 0.5 / 1.5)


def test_the_best_of_several_answers_counts_and_words_are_inflected():
    assert word_scores("отпусками сотрудников", ["месяц", "отпуск сотрудника"]) == (1.0, 1.0)
    assert word_scores("отпусками", ["месяц"]) == (0.0, 0.0)


def test_an_answer_of_function_words_alone_still_compares():
    assert word_scores("не более", ["не более"]) == (1.0, 1.0)
    assert word_scores("", ["28"]) == (0.0, 0.0)
