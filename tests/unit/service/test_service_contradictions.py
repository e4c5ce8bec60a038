"""A reply tells of sources that contradict each other, whoever writes the answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.embedders.hash import HashEmbedder
from pipeline.generators.scripted import ScriptedGenerator
from pipeline.generators.worker import GeneratorWorker
from pipeline.ingest.build import build_index
from pipeline.lazy import Lazy
from pipeline.service import Parts, QAService
from pipeline.settings import SearchSettings, Settings
from pipeline.types import AskRequest

QUESTION = "Сколько дней длится отпуск?"
TOLD = "Новее, от 05.03.2025: 30 дней [{new}]. Старее, от 09.01.2023: 28 дней [{old}]."


def _ask(home: Path, texts: dict[str, str], *, written: str = "") -> Iterator[str]:
    folder = home / "knowledge_base"
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    settings = Settings(home=home, search=SearchSettings(refusal_threshold=0.0))
    index = build_index(folder, HashEmbedder(), settings.index).index
    worker = Lazy(lambda: GeneratorWorker(lambda: ScriptedGenerator([written]), 1)) if written else None
    service = QAService(Parts(lambda: index, Lazy(HashEmbedder), Lazy(lambda: None), worker), settings)
    service.start(wait=True)
    try:
        reply = service.ask(AskRequest(QUESTION, use_rag=bool(written)), lambda: False)
        known = {(citation.n, citation.chunk_id) for citation in reply.answer.citations}
        assert known <= {(source.n, source.chunk_id) for source in reply.sources}
        yield reply.answer.text
        yield from (source.file for source in reply.sources)
    finally:
        service.close()


DATED = {
    "pravila-2023-01-09.txt": "[Тема] Отпуск\nОтпуск длится 28 дней.\n",
    "pamyatka.md": "---\ndate: 2025-03-05\n---\n# Отпуск\n\nОтпуск длится 30 дней.\n",
}


@pytest.mark.parametrize("written", ["", "Отпуск длится 28 дней [1]."])
def test_the_newer_source_is_told_first(tmp_path: Path, written: str) -> None:
    answer, *files = _ask(tmp_path, DATED, written=written)
    places = {name: files.index(name) + 1 for name in DATED}
    told = TOLD.format(new=places["pamyatka.md"], old=places["pravila-2023-01-09.txt"])
    assert answer.endswith(told)
    assert answer.count("Источники противоречат друг другу") == 1


def test_times_of_files_tell_where_nothing_else_does(tmp_path: Path) -> None:
    texts = {
        "a.txt": "[Тема] Отпуск\nОтпуск длится 28 дней.\n",
        "b.txt": "[Тема] Отпуск\nОтпуск длится 30 дней.\n",
    }
    list(_ask(tmp_path, texts))
    for name, day in (("a.txt", 20_000), ("b.txt", 10_000)):
        os.utime(tmp_path / "knowledge_base" / name, (day * 86_400.0, day * 86_400.0))
    answer, *files = _ask(tmp_path, {})
    assert f"Новее, от 04.10.2024: 28 дней [{files.index('a.txt') + 1}]." in answer


def test_sources_that_agree_are_not_accused(tmp_path: Path) -> None:
    texts = {
        "a.txt": "[Тема] Отпуск\nОтпуск длится 28 дней.\n",
        "b.txt": "[Тема] Отдых\nОтпуск длится 28 дней.\n",
    }
    answer, *_ = _ask(tmp_path, texts)
    assert "противоречат" not in answer
