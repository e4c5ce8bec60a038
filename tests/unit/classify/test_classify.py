"""What the model is asked, how a text is shortened, what the scores come to."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.classify.decision import chances, chosen
from pipeline.classify.prompt import Task, shortened
from pipeline.types import ClassifyRequest


def words(text: str) -> int:
    return len(text.split())


def task(*labels, **changes) -> Task:
    return Task(ClassifyRequest(labels or ("Счёт", "Жалоба"), ("текст",), **changes))


def turns(made: Task) -> list[tuple[str, str]]:
    """Texts shown with their answers."""
    shown = [message.content for message in made.conversation("?")[1:-1]]
    return list(zip(shown[::2], shown[1::2], strict=True))


def test_all_messages_but_the_last_are_the_same_for_a_batch():
    made = task(prompt="Пояснение.")
    first, second = made.conversation("раз"), made.conversation("два")
    assert first[:-1] == second[:-1]
    assert (first[-1].content, second[-1].content) == ("раз", "два")
    assert first[0].content.startswith("Пояснение.\n\n")
    assert [message.role for message in first] == ["system", *["user", "assistant"] * 3, "user"]


def test_every_answer_was_given_once():
    assert [answer for _, answer in turns(task())] == ["Счёт", "Жалоба", "Другое"]
    assert "счёт" in turns(task())[0][0]


def test_examples_take_the_place_of_what_is_made_up():
    made = task(examples=(("Пришлите счёт", "Счёт"), ("Привет", None), ("Ещё счёт", "Счёт")))
    assert [answer for _, answer in turns(made)] == ["Жалоба", "Счёт", "Другое", "Счёт"]
    assert turns(made)[1:] == [("Пришлите счёт", "Счёт"), ("Привет", "Другое"), ("Ещё счёт", "Счёт")]
    without = task(examples=(("Привет", None),), none=False)
    assert [answer for _, answer in turns(without)] == ["Счёт", "Жалоба"]


def test_the_labels_decide_the_language():
    assert "Рубрики" in task("Счёт", "Жалоба").conversation("text")[0].content
    assert "Topics" in task("Invoice", "Complaint").conversation("текст")[0].content


def test_none_is_offered_only_where_it_may_come_out():
    assert task().answers == ("Счёт", "Жалоба", "Другое")
    assert "Другое" in task().conversation("а")[0].content
    forced = task(none=False)
    assert (forced.none, forced.answers) == (None, ("Счёт", "Жалоба"))
    assert "Другое" not in "".join(message.content for message in forced.conversation("а"))


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
    assert task(*labels).none == word


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
