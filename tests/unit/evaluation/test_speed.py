"""What ``otvet bench`` measures, over a service that is a fake."""

from __future__ import annotations

import pytest

from pipeline.errors import BusyError
from pipeline.evaluation.speed import (
    SourceQuestions,
    measure_answers,
    measure_search,
    questions_about,
)
from pipeline.types import Answer, Chunk, Failed, Finished, Reply, Token

QUESTIONS = [SourceQuestions("Отпуск кладовщика", "сколько дней он длится")] * 5


def reply(**timings):
    return Reply("", (), Answer("", "sources"), (), timings, "extractive", "", "")


class FakeService:
    def __init__(self, events=()):
        self.events = events
        self.asked = []

    def ask(self, request, cancelled):
        assert not cancelled()
        self.asked.append(request.question)
        return reply(encode=4.0, late_interaction=1.5, total=len(self.asked))

    def stream(self, request, cancelled):
        assert request.use_rag
        self.asked.append(request.question)
        yield from self.events

    def status(self):
        return {"generator": {"prefill_tokens_per_s": 70.5, "decode_tokens_per_s": 11.25}}


def chunk(number, topic, text):
    return Chunk(str(number), "d", number, topic, text, 0, len(text))


def test_searches_are_counted_after_a_warm_up():
    service, steps = FakeService(), []
    speed = measure_search(service, QUESTIONS, lambda: steps.append(1))
    assert len(service.asked) == 3 + 5
    assert len(steps) == speed.questions == 5
    assert speed.stages_ms == {"encode": 4.0, "late_interaction": 1.5, "total": 6.0}  # of 4..8
    assert 0 < speed.p50_ms <= speed.p99_ms
    assert speed.memory_mb > 1


def test_two_answers_for_every_passage():
    service, steps = FakeService((Token("Да"), Token("."), Finished(reply()))), []
    speed = measure_answers(service, QUESTIONS[:2], lambda: steps.append(1))
    assert service.asked == ["Отпуск кладовщика", "сколько дней он длится"] * 2
    assert len(steps) == speed.answers == 4
    assert 0 < speed.first_token_s <= speed.whole_s
    assert speed.same_source_s > 0
    assert (speed.read_tokens_per_s, speed.written_tokens_per_s) == (70.5, 11.25)


def test_answers_that_were_not_generated_do_not_count():
    assert measure_answers(FakeService((Finished(reply()),)), QUESTIONS, lambda: None) is None


def test_an_error_in_mid_answer_is_raised():
    with pytest.raises(BusyError):
        measure_answers(
            FakeService((Failed(BusyError(waiting=1, retry_after_s=1)),)), QUESTIONS, lambda: None
        )


def test_questions_lie_evenly_over_the_index():
    chunks = [chunk(number, f"Тема {number}", "один два три четыре") for number in range(10)]
    assert [question.first for question in questions_about(chunks, 3)] == ["Тема 0", "Тема 3", "Тема 6"]
    assert len(questions_about(chunks, 100)) == 10
    assert questions_about(chunks, 0) == questions_about([], 5) == []


@pytest.mark.parametrize(
    ("topic", "text", "first", "second"),
    [
        ("Отпуск", "он длится 28 дней", "Отпуск он длится 28 дней", "28 дней"),
        ("", "он длится", "он длится", "длится"),
        ("Отпуск кладовщика", "", "Отпуск кладовщика", "Отпуск кладовщика"),
    ],
)
def test_a_question_is_never_empty(topic, text, first, second):
    assert questions_about([chunk(0, topic, text)], 1) == [SourceQuestions(first, second)]
