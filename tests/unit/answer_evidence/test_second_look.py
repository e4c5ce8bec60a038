"""The question to the model about a doubtful passage, and what is made of its answer."""

from pipeline.answer.second_look import ANSWERS, is_doubtful, second_look, states_answer
from pipeline.types import Chunk, Evidence, Hit, Query

CHUNK = Chunk("c", "d", 0, "Кадры", "Отпуск длится 28 дней. " * 200, 0, 4600)


def evidence(relevance, *hits):
    return Evidence(hits, (), relevance=relevance, refused=False)


def test_only_the_last_message_differs_between_questions():
    some = evidence(0.6, Hit(CHUNK, 0.5, 1))
    first = second_look(Query("Сколько длится отпуск?", ""), some)
    other = second_look(Query("Как продлить отпуск?", ""), some)
    assert first[:-1] == other[:-1]
    assert first[-1] != other[-1]
    assert [message.role for message in first] == ["system", *["user", "assistant"] * 4, "user"]
    assert [message.content for message in first if message.role == "assistant"] == ["Yes", "No"] * 2


def test_the_passage_is_there_with_its_topic_and_not_too_long():
    asked = second_look(Query("Сколько длится отпуск?", ""), evidence(0.6, Hit(CHUNK, 0.5, 1)))[-1].content
    assert asked.startswith("Text:\nКадры\nОтпуск длится 28 дней.")
    assert "Question: Сколько длится отпуск?" in asked
    assert len(asked) < 1600


def test_a_clear_yes_is_needed_and_silence_is_no_refusal():
    assert ANSWERS == ("Yes", "No")
    assert states_answer((-0.1, -0.7))
    assert not states_answer((-0.5, -0.9))  # 0.4 is not enough
    assert not states_answer((-3.0, -0.1))
    assert states_answer(())


def test_what_is_sure_or_empty_is_not_looked_at():
    assert is_doubtful(evidence(0.6, Hit(CHUNK, 0.5, 1)))
    assert not is_doubtful(evidence(0.96, Hit(CHUNK, 0.5, 1)))
    assert not is_doubtful(evidence(0.6))
