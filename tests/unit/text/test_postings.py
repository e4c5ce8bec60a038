"""Term statistics, checked against a small corpus counted by hand."""

from __future__ import annotations

from pipeline.text.postings import build_postings, chunk_postings
from pipeline.types import Chunk


def test_counts_of_a_small_corpus() -> None:
    postings = build_postings([["мед", "учет", "мед"], [], ["учет", "акт"]])
    assert dict(postings.terms) == {"акт": 0, "мед": 1, "учет": 2}
    assert postings.starts.tolist() == [0, 1, 2, 4]
    assert postings.rows.tolist() == [2, 0, 0, 2]
    assert postings.counts.tolist() == [1, 2, 1, 1]
    assert postings.lengths.tolist() == [3, 0, 2]


def test_no_texts_at_all() -> None:
    postings = build_postings([])
    assert (len(postings.terms), postings.starts.tolist(), len(postings.lengths)) == (0, [0], 0)


def test_topic_and_text_are_both_searched() -> None:
    chunk = Chunk("1", "d", 0, "Отпуска", "28 дней", 0, 7)
    assert set(chunk_postings([chunk]).terms) == {"отпуск", "28", "дне"}
