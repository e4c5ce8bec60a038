"""Which part of a prompt other questions about the same source begin with."""

from __future__ import annotations

from made_evidence import evidence

from pipeline.answer.lasting import first_source_lasts, sources_last
from pipeline.answer.prompt import build_data_prompt, build_prompt
from pipeline.ports import ChatMessage
from pipeline.types import Query


def _prompt(*data: str) -> tuple[ChatMessage, ...]:
    prompt = build_data_prompt("", data, "Вопрос о них?", lambda text: len(text.split()), 1000)
    return prompt.messages


def test_the_first_source_or_all_of_them_up_to_the_question() -> None:
    messages = _prompt("Первый </source>\n\n текст", "Второй")
    *before, last = first_source_lasts(messages)
    assert tuple(before) == messages[:-1]
    lasting = last.content[: last.lasting]
    assert lasting.startswith('<source n="1">\nПервый')
    assert "Второй" not in lasting
    last = sources_last(messages)[-1]
    assert last.content[last.lasting :] == "Вопрос: Вопрос о них?"


def test_two_questions_about_the_same_best_source_share_its_lasting_part() -> None:
    found = evidence("Отпуск 28 дней. Его делят.", "Отгул один.", topics=["Отпуска"])
    queries = [Query(text, text.lower(), sources_limit=3) for text in ("Сколько длится отпуск?", "Делят ли?")]
    prompts = [
        first_source_lasts(build_prompt(query, found, "ru", lambda text: len(text.split()), 1000).messages)
        for query in queries
    ]
    shared = [messages[-1].content[: messages[-1].lasting] for messages in prompts]
    assert shared[0] == shared[1] != ""
    assert "Его делят." in shared[0]
    assert prompts[0][-1].content != prompts[1][-1].content


def test_without_a_source_nothing_lasts() -> None:
    messages = (ChatMessage("user", "Вопрос"),)
    assert first_source_lasts(messages) == messages
    assert sources_last(messages) == messages
