"""What takes the place of a tokenizer and of token vectors where both are out of reach."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.token_estimate import piece_spans, upper_estimate
from pipeline.text.word_tokens import WORD_DIMENSION, WordTokens, question_words, word_vectors
from pipeline.types import Chunk


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        ("  \n ", []),
        ("word", ["word"]),
        ("wording", ["word", "ing"]),
        ("отпуск", ["отп", "уск"]),
        ("№ 42, ERR_7", ["№", "4", "2", ",", "ERR", "_", "7"]),
        ("日本", ["日", "本"]),
    ],
)
def test_pieces(text, pieces):
    assert [text[start:end] for start, end in piece_spans(text)] == pieces


@given(st.text(max_size=200))
def test_pieces_lie_in_order_and_the_upper_estimate_is_above_them(text):
    spans = piece_spans(text)
    assert (spans[:, 0] < spans[:, 1]).all()
    assert (spans[1:, 0] >= spans[:-1, 1]).all()
    assert upper_estimate(text) >= len(spans)


def test_words_meet_their_other_forms_and_nothing_else():
    one, two = word_vectors("отпуск склад"), word_vectors("отпуска складом принтер")
    likeness = one.vectors @ two.vectors.T
    assert likeness[0, 0] == pytest.approx(1)
    assert likeness[1, 1] == pytest.approx(1)
    assert np.abs(np.delete(likeness.ravel(), [0, 4])).max() < 0.3
    assert np.linalg.norm(two.vectors, axis=1) == pytest.approx(1)


def test_a_question_is_its_telling_words():
    asked = "Сколько дней длится отпуск?"
    words = [asked[start:end] for start, end in question_words(asked).spans]
    assert words == ["дней", "длится", "отпуск"]
    assert len(question_words("как это?")) == 2  # nothing else to go by
    assert question_words("?").vectors.shape == (0, WORD_DIMENSION)


def test_a_passage_has_its_topic_without_a_place():
    chunk = Chunk(id="1", document_id="d", ordinal=0, topic="Отпуск", text="Длится 28 дней.", start=0, end=15)
    tokens = WordTokens([chunk])[0]
    assert tokens.spans.tolist() == [[-1, -1], [0, 6], [7, 9], [10, 14]]
    assert len(WordTokens([chunk])) == 1
