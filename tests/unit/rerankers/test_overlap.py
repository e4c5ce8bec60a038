from __future__ import annotations

from pipeline.rerankers.overlap import OverlapReranker


def test_the_share_of_the_questions_words():
    scores = OverlapReranker().score(
        "Сколько дней отпуск?", ["ОТПУСК 28 дней", "склад", "сколько дней отпуск"]
    )
    assert [round(float(score), 3) for score in scores] == [0.667, 0.0, 1.0]
