"""Which part of a prompt other questions about the same source begin with."""

from __future__ import annotations

from pipeline.answer.lasting import first_source_lasts, sources_last
from pipeline.answer.prompt import build_data_prompt
from pipeline.ports import ChatMessage


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


def test_without_a_source_nothing_lasts() -> None:
    messages = (ChatMessage("user", "Вопрос"),)
    assert first_source_lasts(messages) == messages
    assert sources_last(messages) == messages
