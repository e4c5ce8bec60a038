from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.rerankers.late_interaction import (
    joined_similarity,
    late_interaction_score,
    late_interaction_scores,
    similarity_matrix,
    token_maxima,
)
from pipeline.rerankers.text_only import text_only_scores

QUESTION = np.array([[1, 0], [0, 1]], np.float32)
PASSAGE = np.array([[0.6, 0.8], [1, 0], [-1, 0]], np.float32)


def test_the_matrix_has_the_question_in_rows():
    assert similarity_matrix(QUESTION, PASSAGE).tolist() == [
        pytest.approx([0.6, 1.0, -1.0]),
        pytest.approx([0.8, 0.0, 0.0]),
    ]


def test_the_score_is_the_mean_of_the_best():
    """Best of the first question token 1.0, of the second 0.8: mean 0.9."""
    matrix = similarity_matrix(QUESTION, PASSAGE)
    assert token_maxima(matrix) == pytest.approx([1.0, 0.8])
    assert late_interaction_score(matrix) == pytest.approx(0.9)


def test_parts_of_a_passage_score_by_their_own_tokens():
    """Sentences are scored so: 0.6 and 0.8 for the first token alone, 1.0 and 0 for the other two."""
    matrix = similarity_matrix(QUESTION, PASSAGE)
    parts = [(0, 1), (1, 3), (2, 3), (1, 1)]
    scores = [late_interaction_score(matrix[:, start:end]) for start, end in parts]
    assert scores == pytest.approx([0.7, 0.5, -0.5, 0.0])


def test_nothing_on_either_side_scores_zero():
    nothing = np.zeros((0, 2), np.float32)
    assert late_interaction_score(similarity_matrix(QUESTION, nothing)) == 0
    assert late_interaction_score(similarity_matrix(nothing, PASSAGE)) == 0
    assert late_interaction_scores(QUESTION, []).shape == (0,)
    assert joined_similarity(QUESTION, []).matrices() == []
    assert late_interaction_scores(QUESTION, [PASSAGE, nothing]) == pytest.approx([0.9, 0])


def test_bytes_of_any_length_count_by_their_direction():
    """(60, 80) has length 100, (5, 0) has 5: cosines 0.6, 0.8 and 1, 0."""
    passage = np.array([[60, 80], [5, 0], [0, 0]], np.int8)
    assert similarity_matrix(QUESTION, passage).tolist() == [
        pytest.approx([0.6, 1.0, 0.0]),
        pytest.approx([0.8, 0.0, 0.0]),
    ]


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.lists(st.integers(0, 9), min_size=1, max_size=5))
def test_one_passage_scores_as_it_does_among_many(seed, asked, lengths):
    random = np.random.default_rng(seed)

    def unit(rows: int):
        vectors = random.normal(size=(rows, 16)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    question, passages = unit(asked), [unit(length) for length in lengths]
    scores = late_interaction_scores(question, passages)
    for score, passage in zip(scores, passages, strict=True):
        expected = np.mean([max((float(q @ p) for p in passage), default=0.0) for q in question])
        assert score == pytest.approx(expected, abs=1e-5)
        assert -1.0001 <= score <= 1.0001


def test_text_only_is_a_cosine_and_always_finite():
    vectors = np.array([[0.6, 0.8], [0, 0], [np.nan, np.nan]], np.float32)
    assert text_only_scores(np.array([1, 0], np.float32), vectors).tolist() == pytest.approx([0.6, 0, 0])


@pytest.mark.parametrize("asked", [1, 14, 60, 400])
@pytest.mark.parametrize("told", [0, 1, 47, 48, 200])
def test_products_of_every_size_are_the_same_matrix(asked, told):
    """Small products are cut up to stay on one thread; the result must not show it."""
    random = np.random.default_rng(asked + told)
    question = random.normal(size=(asked, 384)).astype(np.float32)
    passage = random.normal(size=(told, 384)).astype(np.float32)
    found = similarity_matrix(question, passage)
    assert found.shape == (asked, told)
    assert found.dtype == np.float32
    assert np.allclose(found, question.astype(np.float64) @ passage.T.astype(np.float64), atol=1e-3)


def test_scores_are_finite_whatever_the_vectors_are():
    """A damaged copy of token vectors must not reach a reply as NaN."""
    damaged = np.array([[np.nan, 0], [1, 0]], np.float32)
    assert np.isfinite(late_interaction_scores(QUESTION, [damaged, PASSAGE])).all()
    scales = np.array([np.inf, 1], np.float32)
    joined = joined_similarity(QUESTION, [np.ones((2, 2), np.int8)], [scales])
    assert np.isfinite(joined.scores()).all()
