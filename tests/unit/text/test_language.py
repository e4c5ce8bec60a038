"""Language of a question."""

from __future__ import annotations

import pytest

from pipeline.text.language import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Какой порт слушает сервер?", "ru"),
        ("Which port does the server listen on?", "en"),
        ("Что делает UnsafeFindByCode в BSL Language Server?", "ru"),
        ("What does «НайтиПоКоду» mean in the standard library?", "en"),
        ("отпуск", "ru"),
        ("vacation", "en"),
        ("", "ru"),
        ("8025?", "ru"),
    ],
)
def test_language_of_questions(text: str, language: str) -> None:
    assert detect_language(text) == language
