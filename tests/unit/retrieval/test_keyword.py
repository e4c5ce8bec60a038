"""BM25 by the formula, over stems."""

import math

import numpy as np
import pytest
from small_index import small_index

from pipeline.retrieval.keyword import bm25, coverage, covered_share, question_terms
from pipeline.text.bm25 import K1, B
from pipeline.text.postings import build_postings

POSTINGS = build_postings([["кот", "кот", "дом"], ["дом"], ["сад", "дом", "сад", "сад"]])


def terms_of(*texts):
    return small_index(list(texts)).postings


def test_bm25_is_the_formula():
    (term,) = question_terms(POSTINGS, "кот")
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    assert term.weight == pytest.approx(idf)
    norm = K1 * (1 - B + B * 3 / (8 / 3))
    assert bm25(POSTINGS, [term]).tolist() == pytest.approx([idf * 2 * (K1 + 1) / (2 + norm), 0, 0])


def test_a_word_of_every_chunk_still_counts_a_little():
    (term,) = question_terms(POSTINGS, "дом")
    assert 0 < term.weight < 0.2
    scores = bm25(POSTINGS, [term])
    assert scores.argmax() == 1  # the shortest


def test_each_word_once_however_often_it_is_asked():
    assert len(question_terms(POSTINGS, "дом, дом и ещё раз дома")) == len(
        question_terms(POSTINGS, "дом и ещё раз")
    )


def test_function_words_weigh_little():
    words = {term.text: term.weight for term in question_terms(POSTINGS, "почему сад")}
    assert words["поч"] < words["сад"]


def test_yo_and_case_and_inflection_do_not_matter():
    """Case 13."""
    postings = terms_of("Учёт мёда ведёт счетовод Пётр", "Про отпуск ничего")
    for question in ("учет меда", "УЧЁТ МЁДА", "Петр счетовод", "учёта мёдом"):
        assert bm25(postings, question_terms(postings, question)).argmax() == 0


def test_codes_are_found_whole_and_never_guessed():
    postings = terms_of("Форма УПД-5 для склада", "Форма УПД-6 для кассы", "ошибка ERR_42")
    assert bm25(postings, question_terms(postings, "упд 5")).argmax() == 0
    assert bm25(postings, question_terms(postings, "УПД-6")).argmax() == 1
    assert bm25(postings, question_terms(postings, "ERR_42")).argmax() == 2
    (*_, whole) = question_terms(postings, "УПД-7")
    assert whole.found_as == ()


def test_a_misspelt_word_finds_what_was_meant():
    postings = terms_of("Ограничение на длину строки", "Совсем о другом")
    scores = bm25(postings, question_terms(postings, "огранечение"))
    assert scores[0] > 0
    assert scores[0] < bm25(postings, question_terms(postings, "ограничение"))[0]
    assert scores[1] == 0


def test_latin_letters_in_a_russian_word_are_seen_through():
    postings = terms_of("Новый сервер", "Старый склад")
    latin = "c" + "ервер"
    assert bm25(postings, question_terms(postings, latin)).argmax() == 0


def test_two_spellings_count_once_a_chunk():
    postings = build_postings([["шкаф", "шкаб"], ["шкаф"]])
    (term,) = question_terms(postings, "шкаг")
    assert [word for word, _ in term.found_as] == ["шкаб", "шкаф"]
    one, other = bm25(postings, [term]).tolist()
    assert one <= other  # the longer chunk is not paid twice


def test_coverage_says_which_chunk_holds_which_word():
    terms = question_terms(POSTINGS, "кот сад дрозд")
    table = coverage(POSTINGS, terms, [0, 2])
    assert table.tolist() == [[1, 0, 0], [0, 1, 0]]
    weights = [term.weight for term in terms]
    assert covered_share(terms, table).tolist() == pytest.approx(
        [
            weights[0] / sum(weights),
            weights[1] / sum(weights),
        ]
    )
    assert covered_share([], np.zeros((2, 0), np.float32)).tolist() == [0, 0]


def test_an_empty_index():
    empty = build_postings([])
    terms = question_terms(empty, "что угодно")
    assert bm25(empty, terms).tolist() == []
    assert coverage(empty, terms, []).shape == (0, 2)
