"""What of an index deserves a second look."""

from __future__ import annotations

from pipeline.embedders.hash import HashEmbedder
from pipeline.ingest.build import build_index
from pipeline.library.review import LargeBlock, Reviewer
from pipeline.settings import IndexSettings


class Counting(HashEmbedder):
    """Knows how many texts it has counted."""

    def __init__(self):
        super().__init__()
        self.counted = 0

    def token_spans(self, text):
        self.counted += 1
        return super().token_spans(text)


def test_tokens_large_blocks_and_duplicates(tmp_path):
    """Words and single marks are tokens: «Отпуск длится 28 дней.» has five."""
    (tmp_path / "a.txt").write_text(
        "[Тема] Отпуск\nОтпуск длится 28 дней.\n\n[Тема] Длинная\n" + "слово " * 12, encoding="utf-8"
    )
    (tmp_path / "b.txt").write_text("Отпуск длится 28 дней.", encoding="utf-8")
    embedder = Counting()
    index = build_index(tmp_path, embedder, IndexSettings()).index
    reviewer = Reviewer(limit=10)
    found = reviewer.of(index, embedder)
    assert found.tokens == {"a.txt": 17, "b.txt": 5}
    assert found.large == (LargeBlock("a.txt", "Длинная", 12),)
    files = {chunk.id: chunk.file for chunk in index.chunks}
    assert [sorted(files[chunk_id] for chunk_id in group) for group in found.duplicates] == [
        ["a.txt", "b.txt"]
    ]

    before = embedder.counted
    assert reviewer.of(index, embedder) is found
    assert embedder.counted == before
    (tmp_path / "c.txt").write_text("Ещё.", encoding="utf-8")
    more = build_index(tmp_path, HashEmbedder(), IndexSettings()).index
    assert reviewer.of(more, embedder).tokens["c.txt"] == 2
    assert embedder.counted == before + 1
