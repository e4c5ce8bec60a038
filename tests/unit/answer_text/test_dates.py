"""Of what date a source is."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pipeline.answer.dates import Dating, document_date
from pipeline.types import Chunk, Document


def _date(
    metadata: Mapping[str, str | int] | None = None, file: str = "a.txt", topic: str = "", text: str = ""
) -> str:
    document = Document("d", file, "", None, text, (), dict(metadata or {}))
    return document_date(document, Chunk("c", "d", 0, topic, text, 0, len(text), file=file))


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        (_date({"date": "2024-03-05"}), "2024-03-05"),
        (_date({"Дата": "05.03.2024"}), "2024-03-05"),
        (_date({"date": "2020-01-01", "updated": "2024-03-05T10:00:00Z"}), "2024-03-05"),
        (_date({"date": 2024}), "2024"),
        (_date(file="docs/приказ_2024-03-05.md"), "2024-03-05"),
        (_date(file="20240305 отпуск.txt"), "2024-03-05"),
        (_date(file="отпуск 05.03.2024.txt"), "2024-03-05"),
        (_date(file="отпуск-2024.txt"), "2024"),
        (_date(file="2023/отпуск.txt"), ""),
        (_date(topic="Отпуск с 5 марта 2024 года"), "2024-03-05"),
        (_date(topic="Отпуск в 2024 году"), "2024"),
        (_date(text="Положение\nУтверждено 5 марта 2024 года.\n\nОтпуск — 28 дней."), "2024-03-05"),
        (_date(text="Last updated: March 5, 2024\n\nVacation."), "2024-03-05"),
        (_date(text="В 1999 году основан завод."), ""),
        (_date(), ""),
        (_date({"date": "вчера"}), ""),
    ],
)
def test_where_a_date_is_found(date: str, expected: str) -> None:
    assert date == expected


def test_times_of_files_count_when_nothing_else_does() -> None:
    documents = {
        "a": Document("a", "a.txt", "", None, "", ()),
        "b": Document("b", "b.txt", "", None, "", ()),
        "c": Document("c", "c-2020.txt", "", None, "", ()),
    }
    one, two, three = (Chunk("1", d.id, 0, "", "", 0, 0, file=d.file) for d in documents.values())
    times = {"a.txt": 86_400.0 * 366, "c-2020.txt": 0.0}
    dating = Dating(documents.get, times.get)
    assert dating.of_both(one, two) == ("1971-01-02", "")
    assert dating.of_both(one, three) == ("", "2020")
