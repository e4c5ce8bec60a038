"""Terms of keyword search."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.stems import keyword_terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Учёт мёда ведёт счетовод Пётр", "учет меда ведет счетовод петр"),
        ("УЧЁТ МЁДА", "учет меда"),
        ("документы отпуска", "документами отпуском"),
        ("running tests", "run test"),
        ("УПД-5", "УПД–5"),
        ("1C", "1С"),
        ("счёта-фактуры", "счёт-фактура"),
    ],
)
def test_equal_words_give_equal_terms(one: str, other: str) -> None:
    """Case 13 and inflection."""
    assert keyword_terms(one) == keyword_terms(other)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("УПД-5", {"упд-5", "упд", "5"}),
        ("УПД 5", {"упд-5", "упд", "5"}),
        ("ГОСТ 12.1", {"гост-12.1", "гост", "12.1"}),
        ("ERR_42", {"err_42", "err", "42"}),
        ("8.3.14", {"8.3.14", "8.3"}),
        ("UnsafeFindByCode", {"unsafefindbycode", "find", "by", "code"}),
        ("cachedValueNames", {"cachedvaluenames", "name"}),
        ("НайтиПоКоду()", {"найтипокоду", "найт", "код"}),
        ("HTTPСоединение", {"httpсоединение", "http", "соединен"}),
        ("45 000 руб.", {"45000", "45", "000", "руб"}),
        ("1,5 %", {"1.5"}),
        ("C++", {"c++"}),
    ],
)
def test_codes_are_kept_whole_and_in_parts(text: str, terms: set[str]) -> None:
    assert terms <= set(keyword_terms(text))


def test_a_number_after_an_ordinary_word_makes_no_code() -> None:
    assert keyword_terms("через 5 дней") == ["через", "5", "дне"]


def test_a_very_long_word_stays_bounded() -> None:
    assert all(len(term) <= 64 for term in keyword_terms("ы" * 100_000 + " " + "a_" * 5000))


@given(st.text(max_size=200))
def test_terms_are_clean_and_the_same_each_time(text: str) -> None:
    terms = keyword_terms(text)
    assert terms == keyword_terms(text)
    assert all(term and not term.isspace() and "ё" not in term for term in terms)


def test_threads_may_stem_at_once() -> None:
    words = " ".join(f"документами{chr(1072 + n % 32)}{n}х" for n in range(300))
    expected = keyword_terms(words)
    results: list[list[str]] = []
    threads = [threading.Thread(target=lambda: results.append(keyword_terms(words))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4
