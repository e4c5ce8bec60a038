"""What the model is asked, how a text is shortened, what the scores come to."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.classify.decision import chances, chosen
from pipeline.classify.prompt import conversation, none_word, shortened
from pipeline.types import ClassifyRequest


def words(text: str) -> int:
    return len(text.split())


def test_all_messages_but_the_last_are_the_same_for_a_batch():
    first = conversation(["Счёт", "Жалоба"], "Другое", "Пояснение.", "раз")
    second = conversation(["Счёт", "Жалоба"], "Другое", "Пояснение.", "два")
    assert first[:-1] == second[:-1]
    assert (first[-1].content, second[-1].content) == ("раз", "два")
    assert first[0].content.startswith("Пояснение.\n\n")


def test_the_labels_decide_the_language():
    assert "Рубрики" in conversation(["Счёт", "Жалоба"], None, None, "text")[0].content
    assert "Topics" in conversation(["Invoice", "Complaint"], None, None, "текст")[0].content


def test_none_is_offered_only_where_it_may_come_out():
    assert "Другое" in conversation(["Счёт"], "Другое", None, "а")[0].content
    assert "Другое" not in conversation(["Счёт"], None, None, "а")[0].content


@pytest.mark.parametrize(
    ("labels", "word"),
    [
        (["Счёт", "Жалоба"], "Другое"),
        (["Счёт", "другое"], "Ничего из этого"),
        (["Счёт", " ДРУГОЕ ", "Ничего из этого"], "Нет в списке"),
        (["Invoice", "Complaint"], "Other"),
        (["Invoice", "other"], "None of these"),
    ],
)
def test_the_word_for_none_is_no_label_of_the_caller(labels, word):
    assert none_word(labels) == word


@pytest.mark.parametrize(
    ("text", "limit", "read"),
    [
        ("раз два три", 3, "раз два три"),
        ("раз два три", 2, "раз два"),
        ("раз  два\nтри", 2, "раз  два"),
        ("", 2, ""),
    ],
)
def test_a_text_is_read_from_its_beginning(text, limit, read):
    assert shortened(text, words, limit) == read


def test_a_text_without_spaces_is_cut_within_its_word():
    assert shortened("а" * 100, len, 7) == "а" * 7


@given(st.text(max_size=80), st.integers(1, 30))
def test_what_is_read_is_a_beginning_that_fits(text, limit):
    read = shortened(text, len, limit)
    assert text.startswith(read)
    assert len(read) <= limit


scores = st.lists(st.floats(-200, 0), min_size=1, max_size=8)


@given(scores, st.none() | st.floats(-200, 0))
def test_chances_are_probabilities_in_the_order_of_the_scores(labels, none):
    found = chances(labels, none)
    assert math.isclose(sum(found.labels) + found.none, 1, abs_tol=1e-9)
    assert all(0 <= value <= 1 for value in (*found.labels, found.none))
    best = max(range(len(labels)), key=lambda place: labels[place])
    assert found.labels[best] == max(found.labels)
    assert none is not None or found.none == 0


def request(**changes) -> ClassifyRequest:
    return ClassifyRequest(("а", "б"), ("текст",), **changes)


@pytest.mark.parametrize(
    ("labels", "none", "changes", "place"),
    [
        ((-1.0, -5.0), -9.0, {}, 0),
        ((-5.0, -1.0), -9.0, {}, 1),
        ((-9.0, -9.0), -0.1, {}, None),
        ((-3.0, -3.0), None, {"none": False}, 0),
        ((-9.0, -9.5), -0.1, {"threshold": 0.0}, 0),
        ((-0.1, -9.5), -9.0, {"threshold": 1.0}, None),
        ((-0.1, -9.5), None, {"none": False, "threshold": 1.0}, 0),
    ],
)
def test_the_likeliest_label_or_none(labels, none, changes, place):
    assert chosen(chances(labels, none), request(**changes)) == place
