"""Each text is encoded once, whatever was interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from word_embedder import WordEmbedder

from pipeline.ports import Progress
from pipeline.stores import encode
from pipeline.stores.encode import ChunkVectors, encode_chunks
from pipeline.stores.journal import Journal
from pipeline.types import Chunk, Encoded, Role


def chunk(number: int, topic: str, text: str) -> Chunk:
    return Chunk(f"{number:016x}", "d", number, topic, text, 0, len(text))


CHUNKS = [
    chunk(number, topic, text)
    for number, (topic, text) in enumerate(
        [("Отпуск", "28 дней."), ("", "Без темы, http://a.b/c"), ("Отпуск", "28 дней."), ("Иная", "28 дней.")]
        + [("Склад", f"Ячейка {number} на складе." * (number % 4)) for number in range(8)]
    )
]


class Interrupting(WordEmbedder):
    """Stops like Ctrl-C before the given call."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.calls = calls

    def encode(
        self, texts: Sequence[str], role: Role, *, with_tokens: bool = False, progress: Progress | None = None
    ) -> Encoded:
        if self.calls == 0:
            raise KeyboardInterrupt
        self.calls -= 1
        return super().encode(texts, role, with_tokens=with_tokens, progress=progress)


def assert_equal(one: ChunkVectors, two: ChunkVectors) -> None:
    assert np.array_equal(one.vectors, two.vectors)
    assert np.array_equal(one.text_vectors, two.text_vectors)
    assert np.array_equal(one.tokens.offsets, two.tokens.offsets)
    for row in range(len(one.tokens)):
        for a, b in zip(one.tokens.quantised(row), two.tokens.quantised(row), strict=True):
            assert np.array_equal(a, b)


def test_equal_texts_are_encoded_once() -> None:
    embedder = WordEmbedder()
    made = encode_chunks(CHUNKS, embedder, 240)
    assert len(embedder.seen) == len({text for _, text in embedder.seen})
    assert np.array_equal(made.vectors[0], made.vectors[2])
    assert np.array_equal(made.text_vectors[0], made.text_vectors[3])
    assert np.array_equal(made.vectors[1], made.text_vectors[1])
    # Of 12 chunks one is a double, and two of the last eight are the same topic without a text.
    assert made.encoded == 12 - 1 - 1


@pytest.mark.parametrize("size", [1, 3])
def test_an_interrupted_run_is_continued_to_the_same_result(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encode, "_SLICE", size)
    whole = encode_chunks(CHUNKS, WordEmbedder(), 240)
    all_texts = {text for _, text in _encoded(WordEmbedder())}
    for calls in range(len(all_texts) + 1):
        path = tmp_path / f"journal{calls}"
        first = Interrupting(calls)
        with Journal(path) as journal:
            try:
                encode_chunks(CHUNKS, first, 240, book=journal)
            except KeyboardInterrupt:
                pass
            else:
                break
        second = WordEmbedder()
        told: list[tuple[int, int]] = []
        with Journal(path) as journal:
            continued = encode_chunks(CHUNKS, second, 240, _into(told), book=journal)
            assert_equal(continued, whole)
        texts = [text for _, text in (*first.seen, *second.seen)]
        assert sorted(texts) == sorted(all_texts)
        assert told[-1][0] == told[-1][1]
        assert told == sorted(told)
    else:
        raise AssertionError


def _into(told: list[tuple[int, int]]) -> Progress:
    return lambda done, total: told.append((done, total))


def _encoded(embedder: WordEmbedder) -> list[tuple[Role, str]]:
    encode_chunks(CHUNKS, embedder, 240)
    return embedder.seen


def test_everything_known_needs_no_embedding(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        whole = encode_chunks(CHUNKS, WordEmbedder(), 240, book=journal)
        embedder = WordEmbedder()
        again = encode_chunks(CHUNKS, embedder, 240, book=journal)
        assert_equal(again, whole)
    assert embedder.seen == []
    assert again.encoded == 0
