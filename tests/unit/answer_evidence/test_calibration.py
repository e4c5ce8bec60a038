"""Where the threshold goes, worked out by hand; questions made of a base's own sentences."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.answer.calibration import FARTHEST, foreign_questions, shift, shift_abroad
from pipeline.answer.own_questions import own_question, own_questions
from pipeline.answer.refusal import threshold_for
from pipeline.text.language import detect_language
from pipeline.types import Chunk

SPREAD = [-5.0, -4.0, -4.0, -3.0, -3.0, -2.0, -2.0, -1.0]  # middle -3, median deviation 1
ODDS = st.lists(st.floats(-30, 30), min_size=8, max_size=40)


def chunk(text, name="c", headings=()):
    return Chunk(name, "d", 0, "Тема", text, 0, len(text), headings)


def test_half_way_between_what_few_foreign_reach_and_the_worst_of_its_own():
    # (-3 + 4 - 5) / 2 = -2, and eight questions count as much as the prior's eight: half of that.
    assert shift([-3.0] * 8, [4.0] * 8, own_gap=5.0) == pytest.approx(-1.0)
    assert shift([-3.0] * 8, [8.0] * 8, own_gap=5.0) == pytest.approx(0.0)
    # 95 of 100 stay below the middle plus 1.645 deviations, of which the median one is 1 / 1.4826.
    upper = -3 + 1.645 * 1.4826
    assert shift(SPREAD, [4.0] * 8, own_gap=5.0) == pytest.approx((upper - 1) / 2 / 2)


def test_more_questions_are_trusted_more():
    few, many = (shift([-3.0] * count, [4.0] * count, own_gap=5.0) for count in (8, 72))
    assert few == pytest.approx(-2 * 8 / 16)
    assert many == pytest.approx(-2 * 72 / 80)


def test_too_few_questions_leave_the_threshold_alone():
    assert shift([-3.0] * 7, [9.0] * 50, own_gap=5.0) == 0
    assert shift([-3.0] * 50, [9.0] * 7, own_gap=5.0) == 0
    assert shift_abroad([-3.0] * 7) == 0


@given(foreign=ODDS, own=ODDS)
def test_never_far_from_the_product_s_own(foreign, own):
    assert abs(shift(foreign, own, own_gap=5.0)) <= FARTHEST
    assert abs(shift_abroad(foreign)) <= 1


def test_questions_that_do_have_an_answer_here_hardly_matter():
    plain = shift(SPREAD * 5, [4.0] * 40, own_gap=5.0)
    cookery_book = shift([*SPREAD * 4, *[6.0] * 8], [4.0] * 40, own_gap=5.0)
    assert abs(cookery_book - plain) < 0.9


def test_abroad_by_hand():
    upper = -3 + 1.645 * 1.4826
    assert shift_abroad(SPREAD) == pytest.approx(upper / 2 / 2)
    assert shift_abroad([-3.0] * 72) == -1  # (-3 / 2) * 72 / 80, held at its limit


def test_stricter_is_a_higher_threshold():
    values = [threshold_for(step) for step in range(-2, 3)]
    assert values == sorted(set(values))
    assert values[2] == 0.5
    assert values[4] == pytest.approx(1 / (1 + 2.718281828**-1.5))
    assert values[0] == pytest.approx(1 - values[4])


def test_a_question_is_half_of_a_sentence_in_its_order():
    words = [f"слово{place}" for place in range(12)]
    question = own_question(chunk("Коротко. " + " ".join(words).capitalize() + "."))
    kept = question.lower().split()
    assert len(kept) == 6
    assert kept == sorted(kept, key=words.index)
    assert own_question(chunk("Коротко. " + " ".join(words).capitalize() + ".")) == question


def test_a_heading_stands_in_where_there_is_no_sentence():
    assert own_question(chunk("x = 1", headings=("Общее", "Как запустить сервер ночью"))) == (
        "Как запустить сервер ночью"
    )
    assert own_question(chunk("x = 1", headings=("Общее",))) == ""


def test_which_chunks_are_asked_about_depends_on_their_ids_alone():
    chunks = [chunk(f"Это предложение номер {n} о чём-нибудь важном здесь.", f"c{n}") for n in range(30)]
    found = own_questions(chunks, 10)
    assert len(found) == 10
    assert own_questions(chunks[::-1], 10) == found
    # Others keep their places when one leaves.
    gone = found[3][0]
    rest = own_questions([one for one in chunks if one is not gone], 10)
    assert [one for one, _ in rest][:9] == [one for one, _ in found if one is not gone]


def test_the_foreign_questions_are_many_different_and_in_their_language():
    for language in ("ru", "en"):
        questions = foreign_questions(language)
        assert len(set(questions)) == len(questions) >= 75
        assert all(detect_language(question) == language for question in questions)


@pytest.mark.parametrize("name", ["tests/data/near_handbook.jsonl", "benchmarks/data/near_bsl.jsonl"])
def test_near_questions_are_well_formed(name):
    path = Path(__file__).parents[3] / name
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len({row["id"] for row in rows}) == len({row["question"] for row in rows}) == len(rows)
    assert all(row["kind"] == "unanswerable_near" and not row["files"] and row["checked"] for row in rows)
