"""What the debug drawer is told, and that the reply of ``/ask`` stays as it was."""

from dataclasses import replace
from urllib.parse import quote

import pytest
from speaking_service import QUESTION, SteppedGenerator, speaking, until

from pipeline.answer.evidence import gather

ASKED = quote(QUESTION)


@pytest.fixture
def client(start, tmp_path):
    with speaking(tmp_path, SteppedGenerator()) as service:
        until(lambda: service.status()["generator"].get("state") == "ready")
        yield start(service)


def test_candidates_stages_and_the_prompt_that_would_be_sent(client):
    answered = client.get(f"/debug/search?q={ASKED}%20-1")
    assert answered.status == 200
    found = answered.json
    assert list(found)[-1] == "status"
    assert (found["question"], found["flags"]) == (QUESTION, ["-1"])
    best = found["candidates"][0]
    assert (best["rank"], best["file"], best["title"], best["shown"]) == (1, "a.txt", "Отпуск", True)
    assert {"cosine", "bm25", "fusion", "late_interaction"} <= {stage["name"] for stage in best["stages"]}
    assert {"encode", "search", "late_interaction"} <= set(found["timings_ms"])
    assert found["prompt"][0]["role"] == "system"
    assert "Отпуск длится 28 дней." in found["prompt"][-1]["content"]
    assert found["prompt_tokens"] > 0
    assert found["standing"] is None
    assert not found["refused"]


def test_where_no_model_would_be_called_there_is_no_prompt(client, monkeypatch):
    def refusing(*given):
        return replace(gather(*given), refused=True)

    monkeypatch.setattr("pipeline.service.gather", refusing)
    found = client.get("/debug/search?q=" + quote("рецепт борща")).json
    assert found["refused"]
    assert found["prompt"] == []


def test_one_passage_is_judged_found_or_not(client):
    best, *_, last = client.get(f"/debug/search?q={ASKED}").json["candidates"]
    for candidate in (best, last):
        found = client.get(f"/debug/search?q={ASKED}&chunk={candidate['chunk_id']}").json["standing"]
        assert (found["rank"], found["passages"]) == (candidate["rank"], 2)
        assert {"name", "score", "rank"} == set(found["stages"][0])


def test_late_interaction_word_by_word(client):
    best = client.get(f"/debug/search?q={ASKED}").json["candidates"][0]
    found = client.get(f"/debug/words?q={ASKED}&chunk={best['chunk_id']}").json
    assert found["text"] == "Отпуск длится 28 дней."
    met = {match["word"]: match["found"] for match in found["matches"]}
    assert met["длится"] == "длится"
    assert [found["text"][word["start"] : word["end"]] for word in found["words"]] == found["text"].split()
    assert list(found)[-1] == "status"


@pytest.mark.parametrize("path", ["/debug/search", "/debug/words"])
def test_mistakes_are_told(client, path):
    assert client.get(f"{path}?q={ASKED}&chunk=nothing").json["error"] == "not_found"
    assert client.get(path).json["error"] == "invalid_request"
    assert client.get(f"{path}?q=-s").json["error"] == "empty_question"


def test_the_reply_of_a_question_is_as_before(client):
    assert "prompt" not in client.get(f"/search?q={ASKED}%20-s").json
