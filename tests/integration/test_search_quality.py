"""Search, evidence and refusal with the real embedder over the sample knowledge base."""

import json
from pathlib import Path

import pytest

from pipeline.answer.evidence import gather
from pipeline.evaluation.metrics import first_rank, recall_at
from pipeline.retrieval.search import retrieve
from pipeline.settings import SearchSettings
from pipeline.types import Query

pytestmark = pytest.mark.models

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def ask(handbook):
    """Questions to what was found, over the handbook."""
    index, embedder = handbook

    def search(question, **changes):
        return retrieve(Query(question, question, **changes), index, embedder, SearchSettings())

    return search


@pytest.fixture(scope="module")
def questions():
    lines = (ROOT / "tests/data/handbook.questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_right_file_is_found(ask, questions):
    ranks = [
        first_rank([candidate.hit.chunk.file for candidate in ask(one["question"]).candidates], one["files"])
        for one in questions
        if one["files"]
    ]
    assert recall_at(ranks, 1) >= 0.9
    assert recall_at(ranks, 3) >= 0.97


def test_far_questions_are_refused_and_answerable_ones_are_not(ask, questions):
    """Case 17."""
    refused = {one["question"]: gather(ask(one["question"])).refused for one in questions}
    far = [one["question"] for one in questions if one["kind"] == "unanswerable_far"]
    answerable = [one["question"] for one in questions if one["files"]]
    assert all(refused[question] for question in far)
    assert sum(refused[question] for question in answerable) <= 0.03 * len(answerable)


def test_a_question_as_long_as_allowed(ask):
    question = ("На каком порту по умолчанию слушает сервер? " * 60)[:2000]
    found = ask(question)
    assert len(found.question) > 400
    assert found.hits


@pytest.mark.parametrize(
    "question",
    ["На каком порту слушает сервер?", "на каком парту слушает сервир", "НА КАКОМ ПОРТУ СЛУШАЕТ СЕРВЕР"],
)
def test_typing_mistakes_and_capitals_are_forgiven(ask, question):
    evidence = gather(ask(question))
    assert not evidence.refused
    assert "8000" in " ".join(sentence.text for sentence in evidence.sentences)
