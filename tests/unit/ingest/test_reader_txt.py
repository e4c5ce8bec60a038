"""Plain text and block form."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.ingest.readers.txt import read_txt
from pipeline.types import Document


def read(tmp_path: Path, text: str) -> Document:
    path = tmp_path / "Частые вопросы.txt"
    path.write_text(text, encoding="utf-8")
    return read_txt(path, "кадры/Частые вопросы.txt")[0]


BLOCKS = """[Тема] Как установить программу
[Ссылка] https://example.org/install
[Теги] установка, начало
Скачайте файл.

Запустите его.
[topic] How to update
[Link] ftp://example.org/no
Press the button.
[ТЕМА]: Без ссылки
Текст [Ссылка] внутри строки.
[Тема] Пустая
[Тема] Последняя
[Теги] а; б
[Ссылка] http://example.org/last
Конец
"""


def test_every_topic_is_a_block(tmp_path: Path) -> None:
    document = read(tmp_path, BLOCKS)
    rows = [(b.topic, b.link, b.tags, document.text[b.start : b.end]) for b in document.blocks]
    assert rows == [
        (
            "Как установить программу",
            "https://example.org/install",
            ("установка", "начало"),
            "Скачайте файл.\n\nЗапустите его.",
        ),
        ("How to update", None, (), "Press the button."),
        ("Без ссылки", None, (), "Текст [Ссылка] внутри строки."),
        ("Последняя", "http://example.org/last", ("а", "б"), "Конец"),
    ]
    assert document.title == "Частые вопросы"


def test_text_before_the_first_topic_is_kept(tmp_path: Path) -> None:
    document = read(tmp_path, "Введение.\n[Тема] А\nТекст")
    assert [document.text[b.start : b.end] for b in document.blocks] == ["Введение.", "Текст"]


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("Правила отпуска\n\nОтпуск — 28 дней.", "Правила отпуска", "Отпуск — 28 дней."),
        ("Правила отпуска\n===\nОтпуск.", "Правила отпуска", "Отпуск."),
        ("\n\n# Правила\n\nОтпуск.", "Правила", "Отпуск."),
        ("Отпуск — 28 дней.\n\nИ ещё.", "Частые вопросы", "Отпуск — 28 дней.\n\nИ ещё."),
        ("Одна строка", "Частые вопросы", "Одна строка"),
        ("Заголовок без текста\n\n", "Частые вопросы", "Заголовок без текста"),
        ("  с отступом\nдва", "Частые вопросы", "  с отступом\nдва"),
    ],
)
def test_a_file_without_topics_is_one_document(tmp_path: Path, text: str, title: str, body: str) -> None:
    document = read(tmp_path, text)
    (block,) = document.blocks
    assert (document.title, block.topic) == (title, title)
    assert document.text[block.start : block.end] == body
