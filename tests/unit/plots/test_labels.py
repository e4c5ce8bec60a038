"""Words that tell one cluster from another."""

import math

import numpy as np
import pytest

from pipeline.plots import labels
from pipeline.plots.labels import cluster_labels
from pipeline.text.postings import build_postings
from pipeline.text.stems import keyword_terms


def labelled(texts, clusters):
    postings = build_postings([keyword_terms(text) for text in texts])
    return cluster_labels(postings, np.array(clusters, dtype=np.int64), texts)


def test_words_as_people_wrote_them_most_often():
    texts = [
        "Отпуска бывают разные, и документы на отпуск тоже.",
        "Кто уходит в отпуск, получает документы.",
        "Склад хранит товары, на складе есть документы.",
        "Накладная на товары для склада и документы.",
    ]
    vacation, store = labelled(texts, [0, 0, 1, 1])
    assert vacation[0] == "отпуск"
    assert set(store[:2]) == {"товары", "склад"}
    assert "документы" not in vacation[:1] + store[:2]


def test_particles_numbers_and_parts_of_codes_name_nothing():
    texts = ["и в на 2024 и в на 12 ERR_42 отчёт", "и в на 2024 и в на 12 ERR_42 отчёта"]
    (label,) = labelled(texts, [0, 0])
    assert "отчёт" in label
    assert not {"и", "в", "на", "2024", "12"} & set(label)


def test_abbreviations_keep_their_capitals_and_first_words_lose_them():
    texts = ["Настройка сервера LSP", "Настройка клиента LSP", "Совсем другое дело"]
    label, _ = labelled(texts, [0, 0, 1])
    assert set(label[:2]) == {"настройка", "LSP"}


def test_passages_between_clusters_count_for_nothing():
    texts = ["отпуск", "склад", "отпуск отпуск отпуск"]
    assert labelled(texts, [0, 1, -1]) == [("отпуск",), ("склад",)]
    assert labelled(texts, [-1, -1, -1]) == []
    assert labelled([], []) == []


def test_weights_by_hand():
    """Two clusters of 3 and 1 pairs of passage and term: A = 2; «a» stands in 2 passages, «b» in 2."""
    postings = build_postings([["a", "a", "a", "b"], ["a"], ["b"]])
    first, second = labels._weights(postings, np.array([0, 0, 1], dtype=np.int64))
    assert first[0].tolist() == [0, 1]
    assert first[1].tolist() == pytest.approx([2 * math.log(2), math.log(2)])
    assert (second[0].tolist(), second[1].tolist()) == ([1], pytest.approx([math.log(2)]))
