"""Measures of a ranking: worked out by hand, and the library against our own."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.evaluation import ranking
from pipeline.evaluation.ranking import Ranking, ranking_values


def test_worked_out_by_hand():
    # Two right places; the sources are: wrong, place 1, place 1 again, place 0.
    found = ranking_values({"q": Ranking((None, 1, 1, 0), 2)}, [1, 3, 4])
    value = {name: values["q"] for name, values in found.items()}
    assert (value["hit@1"], value["hit@3"], value["mrr"]) == (0.0, 1.0, 0.5)
    assert (value["recall@3"], value["recall@4"]) == (0.5, 1.0)
    # A second source from the same place is as right, but finds nothing new.
    assert value["precision@3"] == pytest.approx(2 / 3)
    assert value["precision@4"] == pytest.approx(3 / 4)
    ideal = 1 + 1 / math.log2(3)
    assert value["ndcg@3"] == pytest.approx((1 / math.log2(3)) / ideal)
    assert value["ndcg@4"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / ideal)


def test_a_question_without_sources_counts_as_not_found():
    found = ranking_values({"none": Ranking((), 1), "one": Ranking((0,), 1)}, [1, 3])
    assert {name: values["none"] for name, values in found.items()} == dict.fromkeys(found, 0.0)
    assert found["ndcg@3"]["one"] == 1.0
    assert found["precision@3"]["one"] == pytest.approx(1 / 3)
    assert ranking_values({}, [1]) == {"hit@1": {}, "mrr": {}}


@settings(max_examples=40)
@given(st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.lists(st.sampled_from([None, 0, 1, 2]), max_size=6).map(lambda right: Ranking(tuple(right), 3)),
    min_size=1, max_size=4,
))  # fmt: skip
def test_our_hits_and_mrr_are_those_of_the_library(rankings):
    from ir_measures import RR, Success, iter_calc

    once = {key: ranking._documents(one, again=False) for key, one in rankings.items()}
    qrels = {key: right for key, (right, _) in once.items()}
    run = {key: found for key, (_, found) in once.items() if found}
    theirs = {(str(m.measure), m.query_id): m.value for m in iter_calc([RR, Success @ 3], qrels, run)}
    ours = ranking_values(rankings, [3])
    for key in rankings:
        assert ours["mrr"][key] == pytest.approx(theirs.get(("RR", key), 0.0), abs=1e-4)
        assert ours["hit@3"][key] == theirs.get(("Success@3", key), 0.0)


def test_without_the_library_hits_and_mrr_are_left(monkeypatch):
    monkeypatch.setattr(ranking, "has_library", lambda: False)
    assert set(ranking_values({"q": Ranking((0,), 1)}, [1, 3])) == {"hit@1", "hit@3", "mrr"}
