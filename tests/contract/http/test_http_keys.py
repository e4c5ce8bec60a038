"""Requests repeated under a key are answered once: 1C retries after a timeout, up to 50 times."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from scripted_service import ScriptedService
from speaking_service import QUESTION, SPOKEN, SteppedGenerator, speaking, until

from pipeline.errors import BusyError
from pipeline.settings import ServerSettings, Settings

ASKED = {"question": QUESTION, "use_RAG": True, "format": False}


@pytest.fixture
def generator():
    return SteppedGenerator()


@pytest.fixture
def client(start, tmp_path, generator):
    """A server over the real service; four callers may wait under keys."""
    with speaking(tmp_path, generator, places=4) as service:
        yield start(service, Settings(server=ServerSettings(queue_size=4)))


def begin(client, key) -> socket.socket:
    """Send a question and do not wait for the answer."""
    body = json.dumps(ASKED).encode()
    headers = f"Host: localhost\r\nIdempotency-Key: {key}\r\nContent-Length: {len(body)}"
    connection = client.connect()
    connection.sendall(f"POST /ask HTTP/1.1\r\n{headers}\r\n\r\n".encode() + body)
    return connection


def patient(client):
    """Ask under the key until it is not too many who wait for it."""
    answered = client.ask(ASKED, Idempotency_Key="k")
    while answered.status == 503:
        assert int(answered.header("Retry-After")) >= 1
        answered = client.ask(ASKED, Idempotency_Key="k")
    return answered


def test_fifty_retries_after_a_timeout_are_one_generation(client, generator):
    first = begin(client, "k")
    until(lambda: client.get("/status").json["generator"]["running"])
    first.close()
    for _ in range(48):
        begin(client, "k").close()
    generator.go_on()
    answered = patient(client)
    assert (answered.status, answered.json["answer"]) == (200, SPOKEN)
    assert len(generator.calls) == 1


def test_fifty_at_once_are_one_generation_and_each_is_answered_or_told_to_come_back(client, generator):
    generator.go_on()

    with ThreadPoolExecutor(50) as pool:
        bodies = {answered.body for answered in pool.map(lambda _: patient(client), range(50))}
    assert len(bodies) == 1
    assert json.loads(bodies.pop())["answer"] == SPOKEN
    assert len(generator.calls) == 1


def test_no_more_wait_under_keys_than_the_line_has_places(client, generator):
    waiting = [begin(client, "k") for _ in range(4)]
    until(lambda: client.get("/status").json["generator"]["running"])

    def refused():
        answered = client.ask({**ASKED, "deadline_s": 1}, Idempotency_Key="other")
        return (answered.status, answered.header("Retry-After")) == (503, "5")

    until(refused)
    for _ in range(3):
        assert client.get("/health").status == 200
    generator.go_on()
    assert {client.receive(connection).status for connection in waiting} == {200}


def test_the_reply_comes_back_byte_for_byte(standing):
    fields = {"question": "отпуск", "idempotency_key": "ключ 1"}
    first, second = standing.ask(fields), standing.ask(fields)
    assert (first.status, first.body) == (200, second.body)
    assert first.header("X-Request-Id") != second.header("X-Request-Id")
    assert standing.ask({"question": "отпуск"}).json["request_id"] != first.json["request_id"]


def test_another_order_of_fields_is_the_same_request(standing):
    headers = {"Idempotency_Key": "order"}
    first = standing.ask({"question": "отпуск", "top_k": 2, "filter": None}, **headers)
    second = standing.ask({"top_k": 2, "question": "отпуск"}, **headers)
    assert first.body == second.body


@pytest.mark.parametrize("other", [{"question": "пароль"}, {"question": "отпуск", "format": False}])
def test_another_body_under_the_same_key_is_a_conflict(standing, other):
    key = {"Idempotency_Key": f"conflict {len(other)}"}
    assert standing.ask({"question": "отпуск"}, **key).status == 200
    answered = standing.ask(other, **key)
    assert (answered.status, answered.json["error"]) == (409, "idempotency_conflict")
    assert answered.json["hint"]
    assert standing.ask(other, "/ask?async=1", **key).status == 409
    assert standing.ask(other, "/ask/stream", **key).status == 409
    assert standing.ask(other, Idempotency_Key=f"free {len(other)}").status == 200


def test_clients_do_not_meet_under_one_key(standing):
    for name in ("a", "b"):
        answered = standing.ask({"question": f"вопрос {name}"}, Idempotency_Key="mine", X_Client=name)
        assert (answered.status, answered.json["question"]) == (200, f"вопрос {name}")


def test_the_background_gives_the_same_id(client, generator):
    first = client.ask(ASKED, "/ask?async=1", Idempotency_Key="k")
    second = client.ask(ASKED, "/ask?async=1", Idempotency_Key="k")
    assert first.json["id"] == second.json["id"]
    generator.go_on()
    # The same question, asked in the plain way, joins it too.
    assert client.ask(ASKED, Idempotency_Key="k").json["answer"] == SPOKEN
    assert client.ask(ASKED, "/ask?async=1", Idempotency_Key="k").json["state"] == "done"
    assert len(generator.calls) == 1


def test_a_stream_joins_too(client, generator):
    generator.let(2)
    client.ask(ASKED, "/ask?async=1", Idempotency_Key="k")
    until(lambda: generator.written == 2)
    generator.go_on()
    answered = client.ask(ASKED, "/ask/stream", Idempotency_Key="k")
    assert answered.body.count(b"event: done") == 1
    assert answered.body.index(SPOKEN.encode()) > 0
    again = client.ask(ASKED, "/ask/stream", Idempotency_Key="k")
    assert again.body.startswith(b"event: done")
    assert len(generator.calls) == 1


def test_what_was_given_up_may_be_asked_again(client, generator):
    first = client.ask(ASKED, "/ask?async=1", Idempotency_Key="k").json["id"]
    client.send("DELETE", f"/ask/{first}")
    generator.go_on()
    assert client.ask(ASKED, Idempotency_Key="k").json["answer"] == SPOKEN


def test_a_refusal_is_not_remembered(start):
    service = ScriptedService(error=BusyError(waiting=8, retry_after_s=3))
    client = start(service)
    assert client.ask(ASKED, Idempotency_Key="k").status == 503
    service.error = None
    assert client.ask(ASKED, Idempotency_Key="k").status == 200
    assert client.ask(ASKED, Idempotency_Key="k").status == 200
    assert len(service.requests) == 2


@pytest.mark.parametrize(
    ("field", "header"), [("a", "b"), ("я" * 201, ""), ("", "x" * 201), (5, ""), (["a"], "")]
)
def test_a_key_that_cannot_be_used_is_refused(standing, field, header):
    headers = {"Idempotency_Key": header} if header else {}
    answered = standing.ask({"question": "отпуск", "idempotency_key": field}, **headers)
    assert (answered.status, answered.json["error"]) == (400, "invalid_request")
    assert "idempotency_key" in answered.json["message"]


@pytest.mark.parametrize("field", [None, "", "same"])
def test_a_key_may_stand_in_both_places(standing, field):
    answered = standing.ask({"question": "отпуск", "idempotency_key": field}, Idempotency_Key="same")
    assert answered.status == 200
