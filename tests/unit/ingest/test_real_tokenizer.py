"""Chunks measured with the tokenizer of the shipped embedder."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.ingest.build import collect
from pipeline.ingest.chunkers.chunker import Chunker, topic_characters
from pipeline.settings import ChunkingName
from pipeline.text.anonymise import anonymise
from pipeline.text.embedded import embedded_text
from pipeline.types import Block, Document

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def embedder(models_folder: Path) -> OnnxEmbedder:
    return OnnxEmbedder(models_folder / "multilingual-e5-small", threads=1)


def assert_sound(
    embedder: OnnxEmbedder, documents: list[Document], size: int, name: ChunkingName = "sentences"
) -> None:
    chunker = Chunker(embedder, size, size // 5, name)
    topic_limit = topic_characters(embedder.spec)
    for document in documents:
        chunks = chunker.chunk(document)
        for chunk in chunks:
            assert name == "headings" or len(embedder.token_spans(anonymise(chunk.text).text)) <= size
            assert len(embedder.token_spans(embedded_text(chunk, topic_limit))) <= embedder.spec.token_limit
        assert chunker.dropped_tokens([document], chunks) == 0


@pytest.mark.parametrize("name", ["sentences", "headings", "recursive"])
@pytest.mark.parametrize(
    "text",
    [
        "Пункт договора о поставке. " * 4000,
        "без точек и заглавных " * 500,
        "ы" * 3000,
        "👨\u200d👩\u200d👧" * 300,
        "8.3.14 УПД-5 " * 300,
    ],
)
def test_every_chunk_fits_whatever_the_text(embedder: OnnxEmbedder, text: str, name: ChunkingName) -> None:
    """Cases 8, 11 and 15."""
    block = Block(0, len(text.rstrip()), "Тема " * 200)
    assert_sound(embedder, [Document("d", "a.txt", "Тема", None, text, (block,))], 220, name)


@pytest.mark.parametrize("size", [64, 220])
def test_a_real_knowledge_base_fits_and_loses_nothing(
    embedder: OnnxEmbedder, shared_data: Path, size: int
) -> None:
    """Case 15."""
    assert_sound(embedder, list(collect(shared_data / "kb_bsl").documents), size)


def test_the_borders_of_topics_are_found_by_the_real_embedder(embedder: OnnxEmbedder) -> None:
    """Two subjects in one block, told apart by nothing but their meaning."""
    leave = (
        "Ежегодный оплачиваемый отпуск длится двадцать восемь дней. Заявление подают за две недели. "
        "Отпуск можно разделить на части, одна из которых не короче двух недель. Отпускные платят вперёд. "
        "Неиспользованный отпуск переносят на следующий год или оплачивают при увольнении. "
    )
    printer = (
        "Картридж лазерного принтера меняют, когда печать бледнеет. Откройте переднюю крышку и выньте старый "
        "картридж. Новый картридж встряхните и вставьте до щелчка. Бумагу кладут в нижний лоток. "
        "Застрявший лист вытягивают медленно по ходу валиков."
    )
    text = leave + printer
    made = Document("d", "a.txt", "Памятка", None, text, (Block(0, len(text), "Памятка"),))
    chunks = Chunker(embedder, 200, 20, "semantic").chunk(made)
    assert [chunk.start for chunk in chunks] == [0, len(leave)]
