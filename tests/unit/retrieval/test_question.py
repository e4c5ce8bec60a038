"""Questions longer than the embedder's limit are encoded in windows, nothing cut."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from word_embedder import WordEmbedder

from pipeline.embedders.hash import HashEmbedder
from pipeline.retrieval.question import encode_question, windows


def test_a_short_question_is_one_window():
    embedder = WordEmbedder()
    encode_question("Сколько дней отпуск?", embedder)
    assert embedder.seen == [("query", "Сколько дней отпуск?")]


@given(st.text(alphabet="абв  .😀", max_size=120), st.integers(2, 9))
def test_windows_cover_the_text_and_fit(text, limit):
    embedder = HashEmbedder(token_limit=limit)
    ranges = windows(text, embedder)
    assert ranges[0][0] == 0
    assert ranges[-1][1] == len(text)
    assert all(before[1] == after[0] for before, after in pairwise(ranges))
    assert all(len(embedder.token_spans(text[start:end])) <= limit for start, end in ranges)


def test_a_long_question_keeps_every_token_at_its_place():
    text = "альфа бета гамма дельта эпсилон"
    vector, tokens = encode_question(text, HashEmbedder(token_limit=2))
    assert [text[start:end] for start, end in tokens.spans] == text.split()
    whole, _ = encode_question(text, HashEmbedder())
    assert np.linalg.norm(vector) == pytest.approx(1)
    assert float(vector @ whole) > 0.9


def test_a_question_without_tokens():
    vector, tokens = encode_question(" ", HashEmbedder())
    assert len(tokens) == 0
    assert np.isfinite(vector).all()
