"""Questions asked with ``async=1``: their states, their bounds, the same from both servers."""

import re

import pytest
from scripted_service import BlockingService, ScriptedService
from speaking_service import QUESTION, SPOKEN, SteppedGenerator, speaking, until

from pipeline.errors import BusyError, GeneratorError, IndexMissingError, NotReadyError
from pipeline.settings import ServerSettings, Settings

KEYS = [
    "id",
    "state",
    "place",
    "estimate_s",
    "poll_after_s",
    "text",
    "sources",
    "reply",
    "failure",
    "request_id",
    "status",
]
ASKED = {"question": QUESTION, "use_RAG": True, "format": False}


@pytest.fixture
def generator():
    return SteppedGenerator()


@pytest.fixture
def client(start, tmp_path, generator):
    """A server over the real service; two answers may wait."""
    with speaking(tmp_path, generator, places=2) as service:
        yield start(service, Settings(server=ServerSettings(queue_size=2)))


def ask(client, **fields):
    answered = client.ask(ASKED | fields, "/ask?async=1")
    assert answered.status == 202
    return answered.json["id"]


def state(client, job_id):
    answered = client.get(f"/ask/{job_id}")
    assert answered.status == 200
    assert list(answered.json) == KEYS
    assert answered.json["status"] == "ok"
    assert answered.json["request_id"] == answered.header("X-Request-Id")
    return answered.json


def test_a_search_is_there_at_once(standing):
    fields = {"question": "отпуск -s", "format": False}
    answered = standing.ask(fields, "/ask?async=1")
    assert answered.status == 202
    assert answered.header("Content-Type") == "application/json; charset=utf-8"
    assert list(answered.json) == KEYS
    assert answered.body.rstrip().endswith(b'"status":"ok"}')
    assert re.fullmatch("[0-9a-f]{32}", answered.json["id"])
    found = state(standing, answered.json["id"])
    assert (found["state"], found["place"], found["poll_after_s"], found["failure"]) == (
        "done",
        None,
        None,
        None,
    )
    plain = standing.ask(fields).json
    assert list(found["reply"]) == list(plain)
    assert found["reply"] | {"request_id": ""} == plain | {"request_id": ""}
    assert found["sources"] == plain["sources"]
    assert found["text"] == plain["answer"]
    assert found["reply"]["request_id"] == answered.header("X-Request-Id")


def test_from_the_line_to_the_reply(client, generator):
    first, second = ask(client), ask(client)
    until(lambda: state(client, first)["place"] == 0)
    waiting = state(client, second)
    assert (waiting["state"], waiting["place"], waiting["text"], waiting["reply"]) == ("queued", 1, "", None)
    assert waiting["estimate_s"] > 0
    assert 1 <= waiting["poll_after_s"] <= 10
    assert waiting["sources"][0]["quote"] == "Отпуск длится 28 дней."
    generator.let(3)
    until(lambda: state(client, first)["text"] == "Отпуск длится 28")
    assert state(client, first)["state"] == "running"
    generator.go_on()
    until(lambda: state(client, second)["state"] == "done")
    for job_id in (first, second):
        done = state(client, job_id)
        assert (done["text"], done["reply"]["answer"], done["reply"]["outcome"]) == (
            SPOKEN,
            SPOKEN,
            "answered",
        )
        assert (done["place"], done["estimate_s"], done["poll_after_s"]) == (None, None, None)
    assert first != second


@pytest.mark.parametrize(
    ("style", "begins"), [(False, SPOKEN), (True, "<p>Отпуск"), ("html", "<!DOCTYPE html>")]
)
def test_the_reply_is_written_as_the_question_asked(client, generator, style, begins):
    generator.go_on()
    job_id = ask(client, format=style, окраска=1)
    until(lambda: state(client, job_id)["state"] == "done")
    reply = state(client, job_id)["reply"]
    assert reply["answer"].startswith(begins)
    assert "окраска" in reply["notes"][0]
    assert state(client, job_id)["text"] == SPOKEN


def test_a_question_given_up_frees_the_model_at_its_next_word(client, generator):
    first, second = ask(client), ask(client)
    generator.let(3)
    until(lambda: generator.written == 3 or state(client, first)["text"] == "Отпуск длится 28")
    answered = client.send("DELETE", f"/ask/{first}")
    assert (answered.status, answered.json["state"], list(answered.json)) == (200, "cancelled", KEYS)
    assert generator.given_up.acquire(timeout=20)
    assert generator.written == 3
    found = state(client, first)
    assert (found["state"], found["place"], found["reply"]) == ("cancelled", None, None)
    assert found["failure"]["error"] == "cancelled"
    assert client.send("DELETE", f"/ask/{first}/").json["state"] == "cancelled"
    generator.go_on()
    until(lambda: state(client, second)["state"] == "done")
    assert client.send("DELETE", f"/ask/{second}").json["state"] == "done"


def test_a_question_given_up_in_the_line_is_never_written(client, generator):
    first, second = ask(client), ask(client)
    client.send("DELETE", f"/ask/{second}")
    generator.go_on()
    until(lambda: state(client, first)["state"] == "done")
    until(lambda: client.get("/status").json["generator"]["waiting"] == 0)
    assert len(generator.calls) == 1


def test_a_full_line_is_told_when_asking(client, generator):
    jobs = [ask(client) for _ in range(3)]
    refused = client.ask(ASKED, "/ask?async=1")
    assert (refused.status, refused.json["error"], refused.json["status"]) == (503, "busy", "error")
    assert int(refused.header("Retry-After")) >= 1
    assert client.ask({"question": QUESTION}, "/ask?async=1").json["state"] == "done"
    generator.go_on()
    for job_id in jobs:
        until(lambda job_id=job_id: state(client, job_id)["state"] == "done")
    assert len(generator.calls) == 3


@pytest.mark.parametrize(
    ("error", "status", "retry"),
    [
        (BusyError(waiting=8, retry_after_s=3), 503, "3"),
        (NotReadyError(what="модель"), 503, "2"),
        (IndexMissingError(path="embeddings"), 503, "30"),
        (ValueError("тайна"), 500, None),
    ],
)
def test_an_error_of_the_request_is_told_when_asking(start, error, status, retry):
    answered = start(ScriptedService(error=error)).ask(ASKED, "/ask?async=1")
    assert (answered.status, answered.json["status"]) == (status, "error")
    assert answered.header("Retry-After") == retry
    assert "тайна" not in answered.body.decode()


def test_a_question_of_flags_alone_is_refused_when_asking(standing):
    answered = standing.ask({"question": "-s"}, "/ask?async=1")
    assert (answered.status, answered.json["error"]) == (400, "empty_question")


def test_an_answer_that_fails_says_so_in_its_state(client, generator):
    generator.fail = True
    generator.go_on()
    job_id = ask(client, prompt="Перескажи", data="текст")
    until(lambda: state(client, job_id)["state"] not in ("queued", "running"))
    found = state(client, job_id)
    assert (found["state"], found["reply"], found["sources"]) == ("failed", None, [])
    assert list(found["failure"]) == ["error", "message", "hint", "request_id", "status"]
    assert found["failure"]["error"] == "generator"


def test_the_question_goes_on_when_its_client_leaves(client, generator):
    generator.let(1)
    job_id = ask(client)
    client.close()
    generator.go_on()
    until(lambda: state(client, job_id)["state"] == "done")


@pytest.mark.parametrize(
    "path", ["/ask/00000000000000000000000000000000", "/ask/x", "/ask/%D0%BE", "/ask/x/"]
)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_unknown_id_is_a_json_error(standing, path, method):
    answered = standing.send(method, path)
    assert (answered.status, answered.json["error"]) == (404, "job_not_found")
    assert list(answered.json) == ["error", "message", "hint", "request_id", "status"]
    assert "10" in answered.json["hint"]


def test_the_methods_of_a_question(standing):
    job_id = standing.ask({"question": "отпуск"}, "/ask?async=1").json["id"]
    assert standing.send("OPTIONS", f"/ask/{job_id}").header("Allow") == "GET, HEAD, DELETE, OPTIONS"
    refused = standing.send("POST", f"/ask/{job_id}", b"{}")
    assert (refused.status, refused.json["error"]) == (405, "method_not_allowed")
    assert refused.header("Allow") == "GET, HEAD, DELETE, OPTIONS"
    head = standing.send("HEAD", f"/ask/{job_id}")
    assert (head.status, head.body) == (200, b"")
    # The stream is an address of its own, not a question called "stream".
    for method in ("GET", "DELETE"):
        assert standing.send(method, "/ask/stream").header("Allow") == "POST, OPTIONS"


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("async=1", 202),
        ("async=true", 202),
        ("async=0", 200),
        ("async=", 200),
        ("x=1", 200),
        ("async=да", 400),
    ],
)
def test_async_is_on_or_off(standing, query, status):
    path = "/ask?" + query.replace("да", "%D0%B4%D0%B0")
    answered = standing.ask({"question": "отпуск"}, path)
    assert answered.status == status
    if status == 400:
        assert (answered.json["error"], "async" in answered.json["message"]) == ("invalid_request", True)


def test_a_page_of_another_site_cannot_give_a_question_up(standing):
    job_id = standing.ask({"question": "отпуск"}, "/ask?async=1").json["id"]
    answered = standing.send("DELETE", f"/ask/{job_id}", None, {"Origin": "http://evil.example"})
    assert (answered.status, answered.json["error"]) == (403, "forbidden_origin")


def test_the_server_stops_while_questions_wait(start):
    service = BlockingService()
    client = start(service)
    assert client.ask({"question": "отпуск"}, "/ask?async=1").json["state"] == "queued"
    assert service.started.acquire(timeout=20)
    # The fixture stops the server now; the question is given up with it.


def test_a_failure_in_the_line_is_no_refusal_of_the_next(start):
    service = ScriptedService(error=GeneratorError(reason="x"), error_after=2)
    client = start(service)
    job_id = client.ask(ASKED, "/ask?async=1").json["id"]
    assert state(client, job_id)["state"] == "failed"
    service.error = None
    assert client.ask(ASKED, "/ask?async=1").json["state"] == "done"
