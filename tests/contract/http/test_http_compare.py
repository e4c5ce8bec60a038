"""Strategies over both servers: what there is, side by side, and their history."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field

import pytest
from http_harness import TIMEOUT_S
from scripted_service import ScriptedService
from speaking_service import QUESTION, SteppedGenerator, speaking, until
from test_http_departures import begin, leave

from pipeline.compare.history import folder_of
from pipeline.errors import CancelledError
from pipeline.settings import Settings
from pipeline.strategies import STRATEGIES


@pytest.fixture
def client(start, tmp_path):
    folder = tmp_path / "kb"
    folder.mkdir()
    with speaking(folder, SteppedGenerator()) as service:
        until(lambda: service.status()["generator"].get("state") == "ready")
        yield start(service, Settings(home=tmp_path))


def test_what_there_is_in_the_language_of_the_caller(standing):
    russian, english = (
        standing.get("/strategies", Accept_Language=language).json for language in ("ru", "en")
    )
    assert [one["name"] for one in russian["strategies"]] == list(STRATEGIES.names())
    assert russian["default"] == {"strategy": "hybrid-z", "reranker": "late-interaction"}
    assert list(russian)[-1] == "status"
    for one, other in zip(russian["strategies"], english["strategies"], strict=True):
        assert (one["flag"], one["reranker"]) == (other["flag"], other["reranker"])
        assert one["what"] != other["what"]
    assert [one["name"] for one in english["strategies"] if one["calibrated"]] == ["hybrid-z"]


def test_all_strategies_side_by_side(client):
    answered = client.ask({"question": f"{QUESTION} -k -1", "top_k": 1}, "/compare")
    assert answered.status == 200
    found = answered.json
    assert list(found)[-1] == "status"
    assert (found["question"], found["flags"]) == (QUESTION, ["-k", "-1"])
    assert [way["strategy"] for way in found["ways"]] == list(STRATEGIES.names())
    usual = next(way for way in found["ways"] if way["default"])
    assert (usual["strategy"], usual["overlap"]) == ("hybrid-z", 1.0)
    assert usual["sources"][0]["file"] == "a.txt"
    assert usual["sources"][0]["link"].endswith("#passage")
    whole = found["ways"][0]
    assert (len(whole["sources"]), whole["saving"]) == (2, 0.0)
    assert found["whole_tokens"] == whole["tokens"] > usual["tokens"] > 0
    assert {"encode", "search", "late_interaction"} <= set(usual["timings_ms"])
    assert usual["total_ms"] == pytest.approx(sum(usual["timings_ms"].values()), abs=0.1)
    assert [row[place] for place, row in enumerate(found["overlaps"])] == [1.0] * 5
    assert found["counted_by"]


def test_chosen_strategies_with_one_reranker(client):
    asked = {"question": QUESTION, "strategies": ["dense"], "rerankers": "cross-encoder"}
    found = client.ask(asked, "/compare", Accept_Language="en").json
    assert [(way["strategy"], way["reranker"]) for way in found["ways"]] == [
        ("hybrid-z", "late-interaction"),
        ("dense", "cross-encoder"),
    ]
    assert "cross-encoder" in found["ways"][1]["notes"][0]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({}, "invalid_request"),
        ({"question": ""}, "empty_question"),
        ({"question": "-k"}, "empty_question"),
        ({"question": "отпуск", "strategies": ["nearest"]}, "invalid_request"),
        ({"question": "отпуск", "rerankers": ["nearest"]}, "invalid_request"),
        ({"question": "отпуск", "strategies": 3}, "invalid_request"),
        ({"question": "отпуск", "top_k": 50}, "invalid_request"),
    ],
)
def test_what_cannot_be_compared_is_refused(client, asked, code):
    answered = client.ask(asked, "/compare")
    assert (answered.status, answered.json["error"]) == (400, code)


@pytest.mark.parametrize("fields", [{"strategy": "nearest"}, {"reranker": "nearest"}])
def test_a_question_by_an_unknown_way_is_refused(standing, fields):
    answered = standing.ask({"question": "отпуск", **fields}, Accept_Language="en")
    assert (answered.status, answered.json["error"]) == (400, "invalid_request")
    assert "hybrid-z" in answered.json["message"] or "late-interaction" in answered.json["message"]


def test_a_question_by_a_way_over_ask_and_search(client):
    whole = client.ask({"question": QUESTION, "strategy": "none"}).json
    assert len(whole["sources"]) == 2
    assert whole["sources"][0]["score"] == 0.0
    by_words = client.get("/search?q=%D0%BE%D1%82%D0%BF%D1%83%D1%81%D0%BA&strategy=keyword").json
    assert len(by_words["sources"]) == 1


@dataclass
class Slow(ScriptedService):
    """Searches until it is released, or its caller is known to have left."""

    began: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    release: threading.Event = field(default_factory=threading.Event)
    searches: int = 0

    def explain(self, request, chunk_id=""):
        self.searches += 1
        self.began.release()
        assert self.release.wait(TIMEOUT_S)
        raise CancelledError


def test_a_comparison_that_takes_long_holds_up_nobody(start):
    service = Slow()
    client = start(service)
    connection = begin(client, "/compare")
    assert service.began.acquire(timeout=TIMEOUT_S)
    assert client.ask({"question": "отпуск"}).status == 200
    leave(connection, "close")
    service.release.set()
    assert client.get("/health").status == 200
    assert service.searches == 1


def test_the_page_and_an_empty_history(start, tmp_path):
    client = start(ScriptedService(), Settings(home=tmp_path))
    page = client.get("/compare")
    assert page.header("Content-Type") == "text/html; charset=utf-8"
    assert b"/static/compare/app.js" in page.body
    found = client.get("/compare/history").json
    assert (found["entries"], found["sets"]) == ([], [])
    assert [one["name"] for one in found["measures"]][:3] == ["hit@1", "hit@3", "mrr"]
    picture = client.get("/compare/plot.svg")
    assert picture.header("Content-Type") == "image/svg+xml; charset=utf-8"


def test_the_history_and_its_picture(start, tmp_path):
    settings = Settings(home=tmp_path)
    entry = {
        "when": "2026-11-30T10:00:00+00:00", "kb_version": "kb1", "questions": "<b>.jsonl", "count": 2,
        "settings": {"candidates": 30}, "strategy": "hybrid-z", "reranker": "late-interaction",
        "default": True, "figures": {"mrr": [0.9, 0.8, 1.0]}, "saving": 0.8, "p": {},
    }  # fmt: skip
    folder_of(settings).mkdir(parents=True)
    (folder_of(settings) / "history.jsonl").write_text(json.dumps(entry) + "\n", encoding="utf-8")
    client = start(ScriptedService(), settings)
    (found,) = client.get("/compare/history").json["entries"]
    assert found["figures"] == [{"measure": "mrr", "value": 0.9, "low": 0.8, "high": 1.0, "p": None}]
    picture = client.get("/compare/plot.svg?measure=mrr&alone=1").body.decode()
    assert "0.900 hybrid-z + late-interaction" in picture
    assert "<b>" not in picture
    assert client.get("/compare/plot.svg?measure=luck").status == 400
