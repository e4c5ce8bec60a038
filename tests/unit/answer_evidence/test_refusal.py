"""Whether there is an answer: features by hand, the model, and the stored coefficients."""

import math
from dataclasses import replace

import numpy as np
import pytest
from small_index import small_index

from pipeline.answer.evidence import gather
from pipeline.answer.refusal import FEATURES, RefusalModel, refusal_features, refusal_model, relevance
from pipeline.embedders.hash import HashEmbedder
from pipeline.retrieval.search import retrieve
from pipeline.settings import SearchSettings
from pipeline.types import Candidate, Chunk, Hit, Query, QuestionTerm, Retrieval, TokenVectors

EMBEDDER = HashEmbedder(256)


def candidate(similarity, covered, name):
    matrix = np.array(similarity, np.float32)
    chunk = Chunk(name, name, 0, "", "текст", 0, 5)
    tokens = TokenVectors(
        np.zeros((matrix.shape[1], 2), np.float32), np.zeros((matrix.shape[1], 2), np.int32)
    )
    return Candidate(Hit(chunk, 0.5, 1), np.array(covered, np.float32), tokens, matrix)


def retrieval(*candidates):
    """«кот дом»: the word «кот» weighs 3, «дом» 1; each word is one token."""
    question = TokenVectors(np.zeros((2, 2), np.float32), np.array([[0, 3], [4, 7]], np.int32))
    terms = (QuestionTerm("кот", 3.0, (("кот", 1.0),)), QuestionTerm("дом", 1.0))
    hits = tuple(one.hit for one in candidates)
    return Retrieval(Query("кот дом", "кот дом"), hits, candidates, question, terms)


def named(features):
    return dict(zip(FEATURES, features, strict=True))


def test_features_by_hand():
    best = candidate([[0.9, 0.1], [0.2, 0.5]], [1, 0], "a")  # maxima 0.9 and 0.5
    second = candidate([[0.4], [0.4]], [0, 0], "b")
    third = candidate([[0.2], [0.2]], [0, 1], "c")
    fourth = candidate([[0.3], [0.3]], [0, 0], "d")
    found = named(refusal_features(retrieval(second, best, third, fourth)))
    assert found["late"] == pytest.approx(0.7)
    assert found["support"] == pytest.approx((3 * 0.9 + 0.5) / 4)
    assert found["coverage"] == pytest.approx(0.75)
    assert found["weakest"] == pytest.approx(0.6)  # a quarter of the way from 0.5 to 0.9
    assert found["margin"] == pytest.approx(0.7 - 0.3)
    assert found["lead"] == pytest.approx(0.4 / (0.02 / 3) ** 0.5, rel=1e-4)
    assert found["foreign"] == 0


def test_a_passage_in_another_language_is_not_judged_by_its_words():
    passages = ["Vacation lasts 28 days and is granted by the head of the department.", "The shop is closed."]
    index = small_index(passages, EMBEDDER)
    questions = {"Сколько длится отпуск?": 1, "Сколько is the vacation?": 0, "How long is the vacation?": 0}
    for question, foreign in questions.items():
        found = retrieve(Query(question, question), index, EMBEDDER, SearchSettings())
        features = named(refusal_features(found))
        assert features["foreign"] == foreign
        assert math.isnan(features["coverage"]) == bool(foreign)


def test_a_single_candidate_has_nothing_to_compare_with():
    found = named(refusal_features(retrieval(candidate([[0.9], [0.5]], [1, 0], "a"))))
    assert math.isnan(found["margin"])
    assert math.isnan(found["lead"])
    assert 0 < relevance(retrieval(candidate([[0.9], [0.5]], [1, 0], "a"))) < 1


def test_nothing_found_is_not_relevant():
    assert refusal_features(retrieval()) is None
    assert relevance(retrieval()) == 0
    evidence = gather(retrieval())
    assert evidence.refused
    assert evidence.sentences == ()


def test_the_model_is_a_logistic_one():
    ones = np.ones(len(FEATURES))
    model = RefusalModel(means=ones, deviations=2 * ones, coefficients=ones, intercept=1.0)
    assert model.probability(ones) == pytest.approx(1 / (1 + math.exp(-1)))
    assert model.probability(3 * ones) == pytest.approx(1 / (1 + math.exp(-1 - len(FEATURES))))
    assert model.probability(np.full(len(FEATURES), np.nan)) == model.probability(ones)


@pytest.mark.parametrize("embedder", ["multilingual-e5-small/int8", "an embedder nobody measured"])
def test_more_of_everything_is_more_relevant(embedder):
    model = refusal_model(embedder)
    graded = np.array([name != "foreign" for name in FEATURES])
    low = model.probability(model.means - 2 * model.deviations * graded)
    high = model.probability(model.means + 2 * model.deviations * graded)
    assert low < 0.5 < high
    assert np.all(model.coefficients[graded] >= 0)


def test_an_unknown_embedder_is_judged_by_what_no_range_enters():
    used = {name for name, weight in named(refusal_model("unknown").coefficients).items() if weight}
    assert used == {"coverage", "lead", "foreign"}


def test_the_threshold_decides():
    index = small_index(["Отпуск длится 28 дней.", "Склад закрыт.", "Касса открыта."], EMBEDDER)
    found = retrieve(Query("отпуск", "отпуск"), index, EMBEDDER, SearchSettings())
    evidence = gather(found)
    assert gather(found, threshold=0.0).refused is False
    assert gather(found, threshold=1.0).refused is True
    assert evidence.hits == found.hits
    assert 0 < evidence.relevance < 1
    assert evidence.relevance == relevance(replace(found, timings_ms={}))


def test_the_order_a_person_asked_for_does_not_change_the_verdict():
    texts = ["Отпуск длится 28 дней.", "Отпуск дней нет.", "Касса открыта.", "Склад закрыт."]
    index = small_index(texts, EMBEDDER)
    query = Query("отпуск длится 28 дней", "отпуск длится 28 дней")
    plain = retrieve(query, index, EMBEDDER, SearchSettings())
    dense = retrieve(replace(query, strategy="dense"), index, EMBEDDER, SearchSettings())
    assert relevance(plain) == pytest.approx(relevance(dense))
