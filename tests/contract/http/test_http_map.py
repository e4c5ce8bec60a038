"""The map over both servers: its page, its data, its script, the place of a question."""

from dataclasses import replace
from pathlib import Path

import pytest
from made_map import a_map, a_source
from scripted_service import ScriptedService
from small_index import small_index

from pipeline.plots import extras
from pipeline.plots.extras import plotly_script
from pipeline.plots.map_file import MAP, map_record, write_map
from pipeline.settings import Settings
from pipeline.stores import json_store


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a map in it and no index."""
    (tmp_path / "embeddings").mkdir()
    write_map(a_map(), tmp_path / "embeddings")
    return tmp_path


def test_the_page_loads_nothing_from_outside_and_runs_nothing_inline(standing):
    answered = standing.get("/map")
    assert answered.header("Content-Type") == "text/html; charset=utf-8"
    policy = answered.header("Content-Security-Policy")
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert answered.body == standing.get("/map/").body
    assert b"https://" not in answered.body
    assert standing.get("/map", If_None_Match=answered.header("ETag")).status == 304
    assert standing.send("HEAD", "/map").body == b""


def test_the_script_comes_out_of_plotlys_package(standing):
    answered = standing.get("/map/plotly.js")
    assert answered.header("Content-Type") == "text/javascript; charset=utf-8"
    assert answered.body == plotly_script().read_bytes()
    assert standing.get("/map/plotly.js", If_None_Match=answered.header("ETag")).status == 304


def test_without_plotly_the_script_says_what_to_install(standing, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    answered = standing.get("/map/plotly.js", Accept_Language="en")
    assert (answered.status, answered.json["error"]) == (500, "extra_missing")
    assert 'pip install "otvet[map]"' in answered.json["hint"]
    assert standing.get("/map").status == 200


def test_the_data(start, home):
    client = start(ScriptedService(), Settings(home=home))
    answered = client.get("/map.json")
    assert answered.status == 200
    assert answered.header("Content-Type") == "application/json; charset=utf-8"
    assert answered.json == map_record(a_map()) | {"current": False, "status": "ok"}
    assert list(answered.json)[-1] == "status"


def test_whether_it_shows_the_index_as_it_is_now(start, home):
    json_store.save(small_index([]), home / "embeddings")
    client = start(ScriptedService(), Settings(home=home))
    assert client.get("/map.json").json["current"] is True
    write_map(a_map(build_id="another"), home / "embeddings")
    assert client.get("/map.json").json["current"] is False


@pytest.mark.parametrize("path", ["/map.json", "/map/question?q=a"])
def test_no_map_yet_says_how_to_draw_it(start, tmp_path, path):
    client = start(ScriptedService(), Settings(home=tmp_path))
    answered = client.get(path, Accept_Language="en")
    assert (answered.status, answered.json["error"]) == (404, "map_missing")
    assert "otvet map" in answered.json["hint"]
    (tmp_path / "embeddings").mkdir()
    (tmp_path / "embeddings" / MAP).write_bytes(b"{")
    assert client.get(path).status == 404


def test_the_place_of_a_question(start, home):
    class Finding(ScriptedService):
        def reply(self, request):
            return replace(super().reply(request), sources=(a_source(3, 0.9), a_source(77, 0.8)))

    service = Finding()
    answered = start(service, Settings(home=home)).get("/map/question?q=%D0%B3%D0%B4%D0%B5%20-3&top_k=1")
    assert answered.json == {
        "question": "где",
        "flat": [1.0, 1.0],
        "deep": [1.0, 1.0, 0.0],
        "nearest": [
            {"chunk_id": "c0003", "title": "Тема 3", "file": "a.txt"},
            {"chunk_id": "c0077", "title": "Тема 77", "file": "a.txt"},
        ],
        "status": "ok",
    }
    (request,) = service.requests
    assert (request.top_k, request.scores, request.use_rag) == (8, True, False)


def test_a_question_whose_passages_are_not_on_the_map(start, home):
    answered = start(ScriptedService(), Settings(home=home)).get("/map/question?q=a")
    assert (answered.json["flat"], answered.json["deep"]) == (None, None)
    assert len(answered.json["nearest"]) == 1


@pytest.mark.parametrize("query", ["", "?q=", "?q=%ff", "?q=" + "a" * 2001])
def test_what_is_no_question_is_refused_as_by_a_search(start, home, query):
    client = start(ScriptedService(), Settings(home=home))
    refused, searched = client.get(f"/map/question{query}"), client.get(f"/search{query}")
    assert refused.status == searched.status == 400
    assert refused.json["error"] == searched.json["error"]


@pytest.mark.parametrize("path", ["/map", "/map.json", "/map/question", "/map/plotly.js"])
def test_other_methods_and_other_sites_are_refused(standing, path):
    assert standing.send("POST", path, b"").status == 405
    assert standing.send("OPTIONS", path).header("Allow") == "GET, HEAD, OPTIONS"
    assert standing.get(path, Host="evil.example").status == 403
    assert standing.get("/map/other").status == 404
