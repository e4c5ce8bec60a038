"""Counting what came of known questions."""

from __future__ import annotations

import pytest

from pipeline.evaluation.questions import KnownQuestion
from pipeline.evaluation.retrieval import Quality, ask_all, quality
from pipeline.types import Answer, AskRequest, Reply, Source


class Told:
    """A service that gives each question the files it was made with."""

    def __init__(self, files: dict[str, list[str]]) -> None:
        self.files = files
        self.asked: list[AskRequest] = []

    def ask(self, request: AskRequest, cancelled: object) -> Reply:
        self.asked.append(request)
        sources = tuple(
            Source(n, "t", None, file, f"цитата {file}", 0, 5, 1.0, None, str(n))
            for n, file in enumerate(self.files[request.question][: request.top_k], start=1)
        )
        outcome = "sources" if sources else "not_found"
        return Reply(
            request.question, (), Answer("Ответ: 28 дней", outcome), sources, {"total": 2.5}, "", "", ""
        )


QUESTIONS = [
    KnownQuestion(1, "первый", ("a",), ("28 ДНЕЙ",)),
    KnownQuestion(2, "второй", ("a",), ("цитата b",)),
    KnownQuestion(3, "нет", ("a",), ("35",)),
    KnownQuestion(4, "отказ", ("a",)),
    KnownQuestion(5, "борщ", ()),
    KnownQuestion(6, "щи", ()),
]
FOUND = {
    "первый": ["a", "b"], "второй": ["b", "b", "a"], "нет": ["b", "c", "d", "e"], "отказ": [], "борщ": [],
    "щи": ["a"],
}  # fmt: skip


def test_ranks_and_shares_worked_out_by_hand() -> None:
    service, steps = Told(FOUND), []
    outcomes = ask_all(service, QUESTIONS, 3, lambda: steps.append(1))
    assert [outcome.rank for outcome in outcomes] == [1, 3, None, None, None, None]
    assert [outcome.is_answered for outcome in outcomes] == [True, True, False, None, None, None]
    assert [outcome.is_refused for outcome in outcomes] == [False, False, False, True, True, False]
    assert len(steps) == 6
    assert all(not request.use_rag and request.top_k == 3 for request in service.asked)
    assert quality(outcomes, [1, 3]) == Quality(
        answerable=4,
        hits={1: 0.25, 3: 0.5},
        mrr=pytest.approx((1 + 1 / 3) / 4),
        answered=pytest.approx(2 / 3),
        refused_wrongly=0.25,
        unanswerable=2,
        refused_rightly=0.5,
    )


def test_what_no_question_tells_is_not_known() -> None:
    found = quality(ask_all(Told({"борщ": []}), [QUESTIONS[4]], 3), [1])
    assert (found.answerable, found.mrr, found.answered, found.refused_wrongly) == (0, None, None, None)
    assert found.refused_rightly == 1.0
