from __future__ import annotations

import hashlib

import pytest

from pipeline.embedders.hash import HashEmbedder, word_axis


def test_an_axis_is_worked_out_by_hand():
    """MD5 of "a" is 0cc175b9 c0…: 0x0cc175b9 = 214005177, 214005177 mod 8 = 1; 0xc0 is even."""
    assert hashlib.md5(b"a").hexdigest().startswith("0cc175b9c0")
    assert word_axis("a", 8) == (1, 1)
    assert word_axis("A", 8) == (1, 1)


def test_a_vector_is_the_sum_of_its_words_at_length_one():
    embedder = HashEmbedder(dimension=64)
    a, b = word_axis("склад", 64), word_axis("отпуск", 64)
    assert a[0] != b[0]
    (vector,) = embedder.encode(["склад отпуск склад"], "query").vectors
    assert vector[a[0]] == pytest.approx(2 * a[1] / 5**0.5)
    assert vector[b[0]] == pytest.approx(b[1] / 5**0.5)
    assert abs(vector).sum() == pytest.approx(3 / 5**0.5)


def test_tokens_are_words_and_marks():
    embedder = HashEmbedder()
    text = "Счёт №5, склад."
    assert [text[start:end] for start, end in embedder.token_spans(text)] == [
        "Счёт",
        "№",
        "5",
        ",",
        "склад",
        ".",
    ]
    tokens = embedder.encode([text], "passage", with_tokens=True).tokens[0]
    axis, sign = word_axis("склад", 64)
    assert tokens.vectors[4][axis] == sign


def test_a_text_without_words_points_along_the_first_axis():
    assert HashEmbedder(dimension=4).encode(["  "], "query").vectors.tolist() == [[1, 0, 0, 0]]
