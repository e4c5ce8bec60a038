"""Questions asked again cost nothing."""

from __future__ import annotations

import numpy as np
import pytest
from word_embedder import WordEmbedder

from pipeline.embedders.remembering import RememberingEmbedder


def test_a_question_is_encoded_once_and_a_passage_every_time() -> None:
    inner = WordEmbedder()
    embedder = RememberingEmbedder(inner)
    first = embedder.encode(["Сколько дней?"], "query", with_tokens=True)
    again = embedder.encode(["Сколько дней?"], "query", with_tokens=True)
    alone = embedder.encode(["Сколько дней?"], "query")
    assert len(inner.seen) == 1
    assert np.array_equal(first.vectors, again.vectors)
    assert np.array_equal(first.vectors, alone.vectors)
    assert alone.tokens is None
    with pytest.raises(ValueError, match="read-only"):
        again.vectors[0, 0] = 2.0
    for _ in range(2):
        embedder.encode(["Сколько дней?"], "passage")
        embedder.encode(["а", "б"], "query")
    assert len(inner.seen) == 1 + 2 + 4


def test_long_questions_are_not_kept() -> None:
    inner = WordEmbedder()
    embedder = RememberingEmbedder(inner)
    for _ in range(2):
        embedder.encode(["слово " * 100], "query")
    assert len(inner.seen) == 2
