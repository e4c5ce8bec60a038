"""A search from question to candidates, over small indexes."""

import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_index import Passage, small_index

from pipeline.embedders.hash import HashEmbedder
from pipeline.rerankers.overlap import OverlapReranker
from pipeline.retrieval.search import CROSS_ENCODER_CANDIDATES, retrieve
from pipeline.settings import SearchSettings
from pipeline.strategies import STRATEGIES
from pipeline.types import Filter, Query

EMBEDDER = HashEmbedder(256)
TEXTS = (
    "Отпуск длится 28 календарных дней.",
    "Больничный лист оплачивает бухгалтерия.",
    "Пропуск на склад выдаёт охрана.",
    "Отпуск без сохранения зарплаты согласуют с директором.",
)
INDEX = small_index(TEXTS, EMBEDDER)


def query(text, **changes):
    return replace(Query(text, text), **changes)


def search(text="Сколько дней длится отпуск?", index=INDEX, cross_encoder=None, settings=None, **changes):
    return retrieve(query(text, **changes), index, EMBEDDER, settings or SearchSettings(), cross_encoder)


def rows(retrieval):
    return [int(hit.chunk.id[1:]) for hit in retrieval.hits]


def written(retrieval):
    """Everything but the timings, as bytes."""
    hits = [asdict(candidate.hit) for candidate in retrieval.candidates]
    return json.dumps([hits, [asdict(term) for term in retrieval.terms]]).encode()


@pytest.mark.parametrize("strategy", STRATEGIES.names())
def test_the_right_passage_comes_first(strategy):
    assert rows(search(strategy=strategy))[0] == 0


@pytest.mark.parametrize(("top_k", "count"), [(1, 1), (3, 3), (4, 4), (20, 4)])
def test_top_k_is_a_limit_not_a_promise(top_k, count):
    """Case 18: more sources asked for than there are."""
    retrieval = search(top_k=top_k)
    assert len(retrieval.hits) == count
    assert retrieval.hits == tuple(candidate.hit for candidate in retrieval.candidates[:count])


@pytest.mark.parametrize("strategy", STRATEGIES.names())
def test_an_empty_index_gives_nothing(strategy):
    """Case 7: an empty knowledge base is no accident."""
    retrieval = search(index=small_index([], EMBEDDER), strategy=strategy)
    assert retrieval.hits == ()
    assert retrieval.candidates == ()


def test_every_stage_is_told_with_score_and_rank():
    first = search().hits[0]
    assert [stage.name for stage in first.stages] == [
        "cosine",
        "bm25",
        "fusion",
        "text_only",
        "coverage",
        "late_interaction",
    ]
    assert {stage.rank for stage in first.stages} == {1}
    late, coverage = first.stages[-1].score, first.stages[-2].score
    assert first.score == pytest.approx(late + 0.08 * coverage, abs=2e-6)


def test_single_stage_modes_are_ordered_by_their_stage():
    for strategy, stage in (("dense", "cosine"), ("keyword", "bm25")):
        for hit in search(strategy=strategy).hits:
            scores = {item.name: item.score for item in hit.stages}
            assert hit.score == scores[stage]


def test_keyword_search_finds_only_what_holds_a_word():
    assert rows(search("охрана склада", strategy="keyword", top_k=4)) == [2]


def test_the_same_input_gives_the_same_bytes():
    assert written(search()) == written(search())


def test_ties_break_by_chunk_id():
    index = small_index([Passage("отпуск", f"{n}.txt", topic) for n, topic in enumerate("вба")], EMBEDDER)
    same = search("отпуск", index=index, strategy="keyword")
    assert len({hit.score for hit in same.hits}) == 1
    assert [hit.chunk.id for hit in same.hits] == sorted(hit.chunk.id for hit in same.hits)


def test_a_filter_is_obeyed_before_ranking():
    """Case 19: fifty nearer passages of another file do not push the wanted ones out."""
    near = [Passage(f"Отпуск длится дней сколько {n}", "отпуск.md") for n in range(50)]
    far = [Passage(f"В архиве лежит дело {n}", "архив.md") for n in range(3)]
    index = small_index([*near, *far], EMBEDDER)
    for strategy in ("hybrid-z", "dense"):
        found = search(index=index, strategy=strategy, filter=Filter(path_prefix="архив.md"))
        assert [hit.chunk.file for hit in found.hits] == ["архив.md"] * 3


def test_a_filter_that_nothing_meets():
    assert search(filter=Filter(path_prefix="нет")).hits == ()


def test_copies_of_a_file_are_one_source():
    copies = [Passage(TEXTS[0], f"копия{n}.txt") for n in range(200)]
    index = small_index([*copies, *(Passage(text, "прочее.txt") for text in TEXTS[1:])], EMBEDDER)
    assert [hit.chunk.text for hit in search(index=index).hits].count(TEXTS[0]) == 1
    assert len(search(index=index).hits) == 3


def test_near_duplicates_are_one_source():
    index = small_index([TEXTS[0], TEXTS[0] + " ", *TEXTS[1:]], EMBEDDER)
    assert len({hit.chunk.text.strip() for hit in search(index=index).hits}) == 3


def test_reciprocal_ranks_instead_of_scores():
    assert rows(search(settings=SearchSettings(strategy="hybrid-rrf")))[0] == 0


@pytest.mark.parametrize(("reranker", "order"), [("text-only", "text_only"), ("none", "fusion")])
def test_the_order_can_be_that_of_an_earlier_stage(reranker, order):
    for hit in search(settings=SearchSettings(reranker=reranker), top_k=4).hits:
        (stage,) = [item for item in hit.stages if item.name == order]
        assert (hit.score, hit.rank) == (stage.score, stage.rank)


def test_few_candidates_are_enough_for_the_best():
    assert rows(search(settings=SearchSettings(candidates=1, rerank=1), top_k=1)) == [0]


class Contrary:
    """Prefers what stands last, and remembers what it was given."""

    name = "cross_encoder"

    def __init__(self):
        self.passages = []

    def score(self, question, passages):
        self.passages = list(passages)
        return np.arange(len(passages), dtype=np.float32)


def reranked(reranker, index=INDEX, **changes):
    changes = {"reranker": "cross-encoder", **changes}
    return retrieve(
        query("Сколько дней длится отпуск?", **changes), index, EMBEDDER, SearchSettings(), reranker
    )


def test_a_cross_encoder_has_the_last_word():
    plain, crossed = search(top_k=4), reranked(Contrary(), top_k=4)
    assert rows(crossed) == rows(plain)[::-1]
    assert [hit.stages[-1].name for hit in crossed.hits] == ["cross_encoder"] * 4
    assert [hit.stages[-1].rank for hit in crossed.hits] == [1, 2, 3, 4]
    assert "cross_encoder" in crossed.timings_ms
    assert crossed.notes == ()


def test_a_cross_encoder_reads_topic_and_text_of_the_best_only():
    passages = [Passage(f"Отпуск длится {n} дней", f"{n}.txt", f"Тема {n}") for n in range(40)]
    reranker = Contrary()
    found = reranked(reranker, small_index(passages, EMBEDDER))
    assert len(reranker.passages) == CROSS_ENCODER_CANDIDATES
    assert reranker.passages[0].startswith("Тема ")
    assert len(found.candidates) <= CROSS_ENCODER_CANDIDATES


def test_a_cross_encoder_is_left_alone_when_nobody_asks():
    reranker = Contrary()
    retrieve(query(TEXTS[0]), INDEX, EMBEDDER, SearchSettings(), reranker)
    assert reranker.passages == []


def test_a_missing_cross_encoder_is_said():
    retrieval = reranked(None)
    assert retrieval.notes == ("no_cross_encoder",)
    assert rows(retrieval) == rows(search())


def test_passages_without_text_keep_their_place_behind():
    """Case 23: empty candidates are not given to the reranker and never fail it."""
    index = small_index([*TEXTS, "", "   "], EMBEDDER)
    reranker = Contrary()
    retrieval = reranked(reranker, index, strategy="dense", top_k=6)
    assert all(text.strip() for text in reranker.passages)
    assert [hit.chunk.text.strip() == "" for hit in retrieval.hits][:4] == [False] * 4
    assert all(math.isfinite(hit.score) for hit in retrieval.hits)


@pytest.mark.parametrize("count", [0, 1])
def test_a_cross_encoder_of_no_or_one_candidate(count):
    """Case 23."""
    assert len(reranked(OverlapReranker(), small_index(TEXTS[:count], EMBEDDER)).hits) == count


def test_yo_is_found_by_ye_and_shown_as_written():
    """Case 13."""
    index = small_index(["Учёт мёда ведёт счетовод Пётр", "Про отпуск", "Про склад"], EMBEDDER)
    for question in ("учет меда", "УЧЁТ МЁДА", "Петр счетовод"):
        assert search(question, index=index).hits[0].chunk.text == "Учёт мёда ведёт счетовод Пётр"


def test_a_question_beyond_the_limit_of_the_embedder():
    small = HashEmbedder(256, token_limit=4)
    text = "Сколько дней длится отпуск по закону и что об этом говорит директор?"
    retrieval = retrieve(query(text), INDEX, small, SearchSettings())
    assert len(retrieval.question) == len(small.token_spans(text))
    assert rows(retrieval)[0] == 0


@given(st.text(max_size=60), st.sampled_from(STRATEGIES.names()))
def test_any_text_gives_finite_scores_in_falling_order(text, strategy):
    retrieval = search(text, strategy=strategy, top_k=20)
    scores = [hit.score for hit in retrieval.hits]
    assert scores == sorted(scores, reverse=True)
    assert [hit.rank for hit in retrieval.hits] == list(range(1, len(scores) + 1))
    every = [stage.score for c in retrieval.candidates for stage in c.hit.stages]
    assert all(map(math.isfinite, [*scores, *every]))
