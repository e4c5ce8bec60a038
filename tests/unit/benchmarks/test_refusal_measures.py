"""Figures of refusal: precision, recall and what they cost, by hand; the signals that were tried."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from small_index import small_index

from pipeline.embedders.hash import HashEmbedder
from pipeline.retrieval.search import retrieve
from pipeline.settings import SearchSettings
from pipeline.types import Query

FOLDER = Path(__file__).resolve().parents[3] / "benchmarks"
RIGHT = np.array([1.0, 2.0, 3.0, 4.0])
WRONG = np.array([-2.0, 1.5])


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    names = ("refusal", "refusal_signals", "fit_refusal", "question_sets")
    for name in names:
        sys.modules.pop(name, None)
    yield __import__
    for name in names:
        sys.modules.pop(name, None)


def test_a_point_of_the_curve(load):
    found = load("refusal").point(RIGHT, WRONG, 1.7)
    # Both wrong ones and one of four right ones are refused.
    assert found == pytest.approx(
        {"precision": 2 / 3, "precision_even": 1 / 1.25, "recall": 1.0, "answerable_refused": 0.25}
    )
    nobody = load("refusal").point(RIGHT, WRONG, -5.0)
    assert nobody == {"precision": 1.0, "precision_even": 1.0, "recall": 0.0, "answerable_refused": 0.0}


def test_the_best_point_balances_precision_and_recall(load):
    found = load("refusal").best_point(RIGHT, WRONG)
    assert (found["recall"], found["precision_even"]) == (1.0, 0.8)


def test_equal_texts_are_of_one_language(load):
    same = load("refusal").same_texts
    assert same("xquad-ru", "xquad-en-ru")
    assert not same("xquad-ru", "xquad-ru-en")
    assert not same("handbook", "kb_bsl")


def test_the_model_that_judges_a_base_has_not_seen_it(load, monkeypatch):
    refusal = load("refusal")
    seen = []
    monkeypatch.setattr(refusal, "fit", lambda samples, used: seen.extend(one.base for one in samples))
    monkeypatch.setattr(refusal, "own_gap", lambda model, samples, asked: seen.extend(asked))
    monkeypatch.setattr(refusal, "log_odds", lambda model, samples: np.zeros(len(samples)))
    monkeypatch.setattr(refusal, "fitted", lambda samples, model, gap: None)
    bases = ("handbook", "kb_bsl", "xquad-ru", "xquad-en", "xquad-en-ru")
    kinds = ("answerable", "near by hand")
    samples = [refusal.Sample(base, kind, np.zeros(7)) for base in bases for kind in kinds]
    judged = refusal.judge("xquad-ru", samples, dict.fromkeys(bases))
    assert set(seen) == {"handbook", "kb_bsl", "xquad-en"}
    assert len(seen) == 3 + 3
    assert len(judged.samples) == 2


def test_signals_of_a_search(load):
    signals = load("refusal_signals")
    embedder = HashEmbedder(128)
    index = small_index(
        ["Склад закрывается в 18 часов.", "Касса открыта до 20 часов.", "Директор Иванов болен."], embedder
    )

    def of(question):
        found = retrieve(Query(question, question), index, embedder, SearchSettings())
        return dict(zip(signals.SIGNALS, signals.signals(found), strict=True))

    known = of("До скольких часов открыта касса?")
    assert known["a number, date or name as asked"] == 1
    assert (
        known["words the base does not know"]
        > of("До скольких часов открыт бассейн?")["words the base does not know"]
    )
    assert known["first by meaning and by words too"] == 2
    assert np.isnan(known["codes and identifiers held"])
    assert np.isnan(of("Почему закрыта касса?")["a number, date or name as asked"])
    assert of("Где ERR42 на складе?")["codes and identifiers held"] == 0
    assert (
        signals.signals(retrieve(Query("а", "а"), small_index([], embedder), embedder, SearchSettings()))
        is None
    )
