"""One suite over every reranker that reads passages: the fake, both engines, the real MiniLM."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from encoder_models import tiny_xlm_roberta

from pipeline.rerankers.onnx_cross_encoder import OnnxCrossEncoder
from pipeline.rerankers.overlap import OverlapReranker
from pipeline.rerankers.sentence_transformers import SentenceTransformersCrossEncoder

QUESTION = "what leave the store"
PASSAGES = ["leave the store: 12 day", "склад номер 5", "сколько дней отпуск", "ё"]
KINDS = ["overlap", "onnx", "torch", pytest.param("real", marks=pytest.mark.models)]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    return tiny_xlm_roberta(tmp_path_factory.mktemp("models") / "tiny-reranker", labels=1)


@pytest.fixture(scope="session")
def made():
    return {}


@pytest.fixture(params=KINDS)
def reranker(request, made):
    kind = request.param
    if kind not in made:
        made[kind] = make(kind, request)
    return made[kind]


def make(kind, request):
    if kind == "overlap":
        return OverlapReranker()
    if kind == "real":
        return OnnxCrossEncoder(request.getfixturevalue("models_folder") / "ms-marco-minilm-l12", threads=2)
    create = OnnxCrossEncoder if kind == "onnx" else SentenceTransformersCrossEncoder
    return create(request.getfixturevalue("tiny"), threads=2)


def test_one_finite_score_a_passage(reranker):
    scores = reranker.score(QUESTION, PASSAGES)
    assert scores.dtype == np.float32
    assert scores.shape == (len(PASSAGES),)
    assert np.isfinite(scores).all()
    assert reranker.name


def test_no_passages_no_scores(reranker):
    """Case 23: 0 candidates."""
    assert reranker.score(QUESTION, []).shape == (0,)


def test_a_passage_scores_the_same_in_any_company(reranker):
    """Case 23: 1 candidate."""
    together = reranker.score(QUESTION, PASSAGES)
    for row, passage in enumerate(PASSAGES):
        assert reranker.score(QUESTION, [passage])[0] == pytest.approx(together[row], abs=1e-3)
    assert reranker.score(QUESTION, PASSAGES[::-1])[::-1] == pytest.approx(together, abs=1e-3)


def test_the_same_input_gives_the_same_bytes(reranker):
    assert reranker.score(QUESTION, PASSAGES).tobytes() == reranker.score(QUESTION, PASSAGES).tobytes()


def test_passages_without_text_come_last_in_their_order(reranker, caplog):
    """Case 23: four candidates, two without text; the rest score as they would alone, and it is logged."""
    with caplog.at_level(logging.WARNING):
        scores = reranker.score(QUESTION, [PASSAGES[0], "", "   ", PASSAGES[1]])
    alone = reranker.score(QUESTION, [PASSAGES[0], PASSAGES[1]])
    assert scores[[0, 3]] == pytest.approx(alone, abs=1e-3)
    assert scores[1] == scores[2] == pytest.approx(alone.min() - 1)
    assert "2 of 4" in caplog.text


def test_only_passages_without_text(reranker):
    """Case 23."""
    assert reranker.score(QUESTION, ["", "\n"]).tolist() == [0, 0]


def test_odd_characters_do_no_harm(reranker):
    """Cases 6 and 11."""
    assert np.isfinite(reranker.score("\ud83d what\x00", ["👨‍👩‍👧", "\udc00 store", "a\x00b"])).all()


def test_a_question_without_words_or_of_great_length_is_scored(reranker):
    for question in ("", "what leave " * 400):
        assert np.isfinite(reranker.score(question, PASSAGES)).all()


@pytest.mark.parametrize("kind", ["onnx", "torch"])
def test_a_passage_too_long_scores_as_its_best_window(kind, request):
    """Nothing is cut silently: windows together hold every token, and the best one counts."""
    reranker = make(kind, request)
    long = " ".join(PASSAGES[row % 3] for row in range(30))
    (windows,) = reranker._pairs(QUESTION, long)
    assert len(windows) > 3
    assert all(len(window.ids) <= 64 for window in windows)
    question = reranker._pairs._windows(QUESTION, 32)[0].ids
    seen = [window.ids[len(question) + 3 : -1].tolist() for window in windows]
    whole = reranker._pairs._windows(long, 10_000)[0].ids
    size = len(seen[0])
    step = size - size // 4
    assert seen[0] == whole[:size]
    joined = seen[0] + [token for window in seen[1:] for token in window[size - step :]]
    assert joined == whole
    alone = reranker._run(windows) if kind == "torch" else [reranker._run(window) for window in windows]
    assert reranker.score(QUESTION, [long])[0] == pytest.approx(max(alone), abs=1e-3)


def test_both_engines_of_one_model_agree(tiny):
    onnx, torch = OnnxCrossEncoder(tiny, threads=1), SentenceTransformersCrossEncoder(tiny, threads=1)
    long = " ".join(PASSAGES * 10)
    expected = torch.score(QUESTION, [*PASSAGES, long])
    assert onnx.score(QUESTION, [*PASSAGES, long]) == pytest.approx(expected, abs=1e-3)
    assert np.ptp(expected) > 0.01


@pytest.mark.parametrize("create", [OnnxCrossEncoder, SentenceTransformersCrossEncoder])
def test_two_labels_are_read_as_yes_less_no(create, tmp_path_factory):
    folder = tiny_xlm_roberta(tmp_path_factory.mktemp("two") / "two-labels", labels=2)
    reranker = create(folder, threads=1)
    assert np.isfinite(reranker.score(QUESTION, PASSAGES)).all()


@pytest.mark.models
def test_the_real_model_knows_what_answers(models_folder):
    reranker = OnnxCrossEncoder(models_folder / "ms-marco-minilm-l12", threads=2)
    passages = ["Berlin lies on the Spree.", "Paris is the capital of France.", "Bread is baked in an oven."]
    scores = reranker.score("What is the capital of France?", passages)
    assert scores.argmax() == 1
    assert scores[1] > 5 > -5 > scores[2]
