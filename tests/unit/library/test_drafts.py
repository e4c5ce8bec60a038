"""The files of drafts and of known questions, and what drafts are made of."""

from __future__ import annotations

import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import NotFoundError
from pipeline.library.drafting import draft_questions, foreign_drafts
from pipeline.library.drafts import DRAFTS, QUESTIONS, Draft, DraftBook
from pipeline.library.question_model import usable_question
from pipeline.types import Chunk


def chunk(text, file="a.md", headings=(), number=1):
    return Chunk(
        id=f"{file}-{number}", document_id=file, ordinal=number, topic="", text=text, start=0,
        end=len(text), headings=headings, file=file,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "headings", "question", "answers"),
    [
        (
            "Отпуск длится 28 календарных дней.",
            (),
            "Отпуск длится сколько календарных дней?",
            ("28 календарных",),
        ),
        ("The report takes 3 days to write.", (), "The report takes how many days to write?", ("3 days",)),
        ("Заявление пишут от руки.", ("Как уйти в отпуск",), "Как уйти в отпуск?", ()),
        ("Порты бывают от 1 до 65535 включительно.", ("Порт сервера",), "Порт сервера", ()),
        ("В 2024 году вышла восьмая версия программы.", ("Восьмая версия",), "Восьмая версия", ()),
    ],
)
def test_what_a_passage_is_asked_for(text, headings, question, answers):
    (draft,) = draft_questions([chunk(text, headings=headings)], 5)
    assert (draft.question, draft.answer_any, draft.files) == (question, answers, ("a.md",))


def test_one_of_every_file_before_the_second_of_any():
    chunks = [
        chunk(f"Строка номер {n} длится {n + 2} дней ровно.", file, number=n)
        for file in ("a.md", "b.md", "c.md")
        for n in range(5)
    ]
    made = draft_questions(chunks, 3)
    assert {draft.files for draft in made} == {("a.md",), ("b.md",), ("c.md",)}
    more = draft_questions(chunks, 20, taken={draft.chunk_id for draft in made})
    assert len(more) == 12
    assert not {draft.id for draft in made} & {draft.id for draft in more}


def test_the_model_asks_and_where_it_cannot_the_sentence_does():
    chunks = [chunk("Отпуск длится 28 дней."), chunk("Ответ идёт 30 дней.", "b.md")]
    ask = lambda one, language: "Сколько отдыхать?" if one.file == "a.md" else ""  # noqa: E731
    made = {draft.files[0]: draft for draft in draft_questions(chunks, 2, ask=ask)}
    assert (made["a.md"].question, made["a.md"].made) == ("Сколько отдыхать?", "model")
    assert made["b.md"].made == "sentence"


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("Сколько дней длится отпуск?", "Сколько дней длится отпуск?"),
        ("Вопрос: «Сколько дней длится отпуск?»\nОтвет: 28", "Сколько дней длится отпуск?"),
        ("1. Сколько дней длится отпуск? 2. Кому он положен?", "Сколько дней длится отпуск?"),
        ("Что сказано в отрывке об отпуске?", ""),
        ("How long is отпуск for the employees?", ""),
        ("Какая погода завтра в Москве?", ""),
        ("Отпуск длится 28 дней.", ""),
        ("Да?", ""),
        ("", ""),
    ],
)
def test_what_a_model_says_is_checked(said, question):
    assert usable_question(said, chunk("Отпуск длится 28 дней."), "ru") == question


def test_questions_about_other_things_are_not_proposed_twice():
    first = foreign_drafts("ru", 3)
    assert [draft.files for draft in first] == [(), (), ()]
    second = foreign_drafts("ru", 3, {draft.id for draft in first})
    assert not {draft.question for draft in first} & {draft.question for draft in second}


def test_lines_of_people_stay_as_they_are(tmp_path):
    own = '{"question": "Моё?", "files": [], "note": "важно"}\nэто не JSON\n'
    (tmp_path / QUESTIONS).write_text(own, "utf-8")
    book = DraftBook(tmp_path)
    book.add([Draft("one", "Раз?", "sentence", ("a.md",)), Draft("two", "Два?", "heading", ("b.md",))])
    book.accept("one")
    assert (tmp_path / QUESTIONS).read_text("utf-8").startswith(own)
    book.restore("one")
    assert (tmp_path / QUESTIONS).read_text("utf-8") == own
    assert {draft.id for draft in book.all()} == {"one", "two"}


def test_drafts_are_marked_as_such(tmp_path):
    DraftBook(tmp_path).add([Draft("one", "Раз?", "sentence", ("a.md",))])
    (line,) = (tmp_path / DRAFTS).read_text("utf-8").splitlines()
    assert json.loads(line)["draft"] is True


def test_nothing_of_that_name(tmp_path):
    book = DraftBook(tmp_path)
    for do in (book.accept, book.drop, book.restore):
        with pytest.raises(NotFoundError):
            do("nothing")


def test_many_hands_at_once(tmp_path):
    DraftBook(tmp_path).add([Draft(f"d{n}", f"{n}?", "sentence", ("a.md",)) for n in range(16)])
    books = [DraftBook(tmp_path) for _ in range(4)]

    def work(book, first):
        for n in range(first, 16, 4):
            (book.accept if n % 2 else book.drop)(f"d{n}")

    threads = [threading.Thread(target=work, args=(book, n)) for n, book in enumerate(books)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    left = DraftBook(tmp_path)
    assert len(left.accepted()) == 8
    assert sorted(draft.id for draft in left.all()) == sorted(f"d{n}" for n in range(0, 16, 2))


@given(text=st.text(max_size=300))
def test_any_passage_will_do(text):
    for draft in draft_questions([chunk(text)], 1):
        assert draft.question.strip()
