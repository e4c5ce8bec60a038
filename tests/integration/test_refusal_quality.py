"""Refusal with the real embedder over the handbook, as it comes and as strictness moves it."""

import json
from pathlib import Path

import pytest

from pipeline.answer.evidence import gather
from pipeline.calibrate import calibrated
from pipeline.evaluation.metrics import area_under_curve
from pipeline.health.finding import Say
from pipeline.health.refusal import check_refusal
from pipeline.retrieval.search import retrieve
from pipeline.settings import SearchSettings
from pipeline.types import Query

pytestmark = pytest.mark.models

ROOT = Path(__file__).parents[2]


def questions(name):
    lines = (ROOT / "tests/data" / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def index_and_embedder(handbook):
    index, embedder = handbook
    return calibrated(index, embedder), embedder


@pytest.fixture(scope="module")
def found(index_and_embedder):
    """Kind of question -> what was found for each."""
    index, embedder = index_and_embedder
    kinds = {"answerable": [], "unanswerable_far": [], "unanswerable_near": []}
    for one in questions("handbook.questions.jsonl") + questions("near_handbook.jsonl"):
        kind = "answerable" if one["files"] else one["kind"]
        query = Query(one["question"], one["question"])
        kinds[kind].append(retrieve(query, index, embedder, SearchSettings()))
    return kinds


def refused(found, strictness):
    return sum(gather(one, strictness=strictness).refused for one in found) / len(found)


def test_as_it_comes(found):
    """Case 17."""
    assert refused(found["answerable"], 0) <= 0.03
    assert refused(found["unanswerable_far"], 0) == 1


def test_near_questions_are_told_apart_if_not_refused(found):
    likely = {kind: [gather(one).relevance for one in some] for kind, some in found.items()}
    assert area_under_curve(likely["answerable"], likely["unanswerable_near"]) >= 0.9
    assert area_under_curve(likely["answerable"], likely["unanswerable_far"]) >= 0.99


def test_strictness_trades_one_for_the_other(found):
    near = [refused(found["unanswerable_near"], step) for step in range(-2, 3)]
    own = [refused(found["answerable"], step) for step in range(-2, 3)]
    assert near == sorted(near)
    assert own == sorted(own)
    assert near[0] <= 0.1
    assert near[4] >= 0.5
    assert own[4] <= 0.1


def test_what_doctor_says_of_it(index_and_embedder):
    index, _ = index_and_embedder
    found = index.calibration
    assert found.refused_own[2] <= 0.05
    assert found.refused_foreign[2] >= 0.9
    assert (
        f"{100 * found.refused_foreign[2]:.0f} %"
        in check_refusal(index, SearchSettings(), Say("ru"))[0].detail
    )
