"""Lists of topics as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.json import read_json
from pipeline.types import Document


def read(tmp_path: Path, content: str) -> Document:
    path = tmp_path / "topics.json"
    path.write_text(content, encoding="utf-8")
    return read_json(path, "topics.json")[0]


def test_every_item_is_a_block(tmp_path: Path) -> None:
    items = [
        {"topic": " Отпуск ", "link": "https://example.org/a", "text": "28 дней.\n", "tags": ["кадры", ""]},
        {"text": "Без темы", "tags": "один", "лишнее": 1},
        {"topic": "Пустой", "text": "  \n"},
        {"topic": None, "link": "javascript:x", "text": "Конец", "tags": None},
    ]
    document = read(tmp_path, json.dumps(items, ensure_ascii=False))
    rows = [(b.topic, b.link, b.tags, document.text[b.start : b.end]) for b in document.blocks]
    assert rows == [
        ("Отпуск", "https://example.org/a", ("кадры",), "28 дней."),
        ("", None, ("один",), "Без темы"),
        ("", None, (), "Конец"),
    ]
    assert document.text == "28 дней.\n\nБез темы\n\nКонец"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('[{"text": "а"},\n {"text" 1}]', "line:column 2:10"),
        ('[{"text": "а"}', "line:column 1:15"),
        ('{"text": "а"}', "a list of objects"),
        ('["а"]', "a list of objects"),
        ("5", "a list of objects"),
        ('[{"topic": "а"}]', "1: text"),
        ('[{"text": "а"}, {"text": 5}]', "2: text"),
        ('[{"text": "а", "link": []}]', "1: link"),
        ('[{"text": "а", "tags": [1]}]', "1: tags"),
        ('[{"text": "а", "tags": {"б": 1}}]', "1: tags"),
        ("[]", "no text"),
        ('[{"text": " "}]', "no text"),
        ("[" * 100_000, "a list of objects"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, content: str, reason: str) -> None:
    with pytest.raises(UnreadableFileError) as caught:
        read(tmp_path, content)
    assert reason in str(caught.value)


def test_escaped_surrogates_and_nul_are_cleaned(tmp_path: Path) -> None:
    """Cases 6 and 11."""
    document = read(tmp_path, '[{"text": "во\\u0000з\\ud83d \\ud83d\\ude00"}]')
    assert document.text == "воз\ufffd 😀"


def test_a_number_without_end_is_a_reason_not_a_crash(tmp_path: Path) -> None:
    """Python refuses to read an integer of more than 4300 digits."""
    with pytest.raises(UnreadableFileError):
        read(tmp_path, '[{"text": "x", "n": ' + "1" * 5000 + "}]")
