"""In which language a sentence of an answer is."""

import pytest

from pipeline.answer.tongue import in_another_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The annual leave is 28 calendar days long.", "ru"),
        ("Anderson made a 2-yard touchdown in the fourth period.", "ru"),
        ("Отпуск длится 28 календарных дней.", "en"),
        ("年假为28天", "ru"),
        ("Отпуск 年假为二十八天年假为二十八天", "ru"),
    ],
)
def test_another_language(text: str, language: str) -> None:
    assert in_another_language(text, language)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Отпуск длится 28 дней.", "ru"),
        ("8025", "ru"),
        ("8025", "en"),
        ("LSP, MCP", "ru"),
        ("BSL Language Server подключают через параметр --app.websocket.lsp-path", "ru"),
        ("Ключ `the app is set to be on the path`.", "ru"),
        ("Press ОК to save the file.", "en"),
        ("", "ru"),
    ],
)
def test_identifiers_and_names_do_not_make_a_language(text: str, language: str) -> None:
    assert not in_another_language(text, language)  # type: ignore[arg-type]
