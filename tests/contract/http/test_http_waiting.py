"""Waiting for the language model: the place is told, deadlines hold, who leaves frees it, turns are fair."""

import json
import socket

import pytest
from speaking_service import QUESTION, SPOKEN, WORDS, SteppedGenerator, speaking, until

from pipeline.settings import ServerSettings, Settings

ASKED = {"question": QUESTION, "use_RAG": True, "format": False}
EXTRACT = "Отпуск длится 28 дней"


@pytest.fixture
def generator():
    return SteppedGenerator()


@pytest.fixture
def client(start, tmp_path, generator):
    with speaking(tmp_path, generator) as service:
        yield start(service, Settings(server=ServerSettings(queue_size=8)))


def begin(client, path, name="", **fields) -> socket.socket:
    body = json.dumps(ASKED | fields).encode()
    named = f"X-Client: {name}\r\n" if name else ""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{named}Content-Length: {len(body)}\r\n\r\n"
    connection = client.connect()
    connection.sendall(head.encode() + body)
    return connection


def waiting(client) -> int:
    return client.get("/status").json["generator"]["waiting"]


def read_until(connection, received: bytes, count: int) -> bytes:
    """Read on until there are so many ``waiting`` events."""
    while received.count(b"event: waiting") < count:
        received += connection.recv(65536)
    return received


def test_the_place_is_told_when_it_changes(client, generator):
    first = begin(client, "/ask")
    until(lambda: client.get("/status").json["generator"]["running"])
    second = begin(client, "/ask")
    until(lambda: waiting(client) == 1)
    third = begin(client, "/ask/stream")
    received = read_until(third, b"", 1)
    generator.let(1 + WORDS)
    received = read_until(third, received, 2)
    generator.let(1 + WORDS)
    received = read_until(third, received, 3)
    generator.go_on()
    while b"event: done" not in received:
        received += third.recv(65536)
    told = [
        json.loads(line.removeprefix("data: "))
        for event, line in zip(
            received.decode().splitlines(), received.decode().splitlines()[1:], strict=False
        )
        if event == "event: waiting"
    ]
    assert [event["place"] for event in told] == [2, 1, 0]
    assert all(list(event) == ["place", "estimate_s"] and event["estimate_s"] >= 0 for event in told)
    assert received.index(b"event: sources") < received.index(b"event: waiting")
    assert received.rindex(b"event: waiting") < received.index(b"event: token")
    assert [client.receive(connection).json["answer"] for connection in (first, second)] == [SPOKEN] * 2


@pytest.mark.parametrize("where", ["in the line", "while the model reads", "in mid-answer"])
def test_at_the_deadline_the_sources_answer(client, generator, where):
    """The generator is silent: the reply comes all the same, made of the sources' own sentences."""
    if where == "in the line":
        begin(client, "/ask")
        until(lambda: client.get("/status").json["generator"]["running"])
    if where == "in mid-answer":
        generator.let(3)
    reply = client.ask(ASKED | {"deadline_s": 1}).json
    assert (reply["outcome"], reply["model"]) == ("answered", "extractive")
    assert reply["answer"].startswith(EXTRACT)
    assert "deadline_s" in reply["notes"][0] or "срок" in reply["notes"][0]
    assert len(generator.calls) == (0 if where != "in mid-answer" else 1)


def test_at_the_deadline_a_text_from_own_data_ends_where_it_is(client, generator):
    generator.let(3)
    reply = client.ask(ASKED | {"deadline_s": 1, "prompt": "Перескажи", "data": "текст"}).json
    assert (reply["answer"], reply["outcome"]) == ("Отпуск длится 28", "generated")
    assert reply["notes"]


@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("path", ["/ask", "/ask/stream"])
def test_not_one_more_word_is_written_for_a_client_that_has_left(client, generator, path, how):
    """Case 27, on counts: the model stops at the word at which it learns of it."""
    generator.let(3)
    connection = begin(client, path)
    until(lambda: generator.written == 3)
    if how == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()
    assert generator.given_up.acquire(timeout=20)
    assert generator.written == 3
    generator.go_on()
    assert client.ask(ASKED).json["answer"] == SPOKEN


def test_a_client_that_leaves_the_line_is_never_written_for(client, generator):
    first = begin(client, "/ask")
    until(lambda: client.get("/status").json["generator"]["running"])
    begin(client, "/ask").close()
    begin(client, "/ask/stream").close()
    until(lambda: waiting(client) == 0)
    generator.go_on()
    assert client.receive(first).json["answer"] == SPOKEN
    assert client.ask(ASKED).status == 200
    assert len(generator.calls) == 2


def test_users_of_one_address_take_turns(client, generator):
    """Case 26: the questions of one user do not hold up another's, though both come from one server."""
    order = []
    generator._replies = lambda messages: order.append(messages[-1].content) or SPOKEN
    running = begin(client, "/ask", "Анна".encode().decode("latin-1"), question="отпуск раз")
    until(lambda: client.get("/status").json["generator"]["running"])
    many = []
    for n, (name, question) in enumerate(
        [("anna", "отпуск два"), ("anna", "отпуск три"), ("boris", "отпуск четыре")], 1
    ):
        many.append(begin(client, "/ask", name, question=question))
        until(lambda n=n: waiting(client) == n)
    generator.go_on()
    assert {client.receive(connection).status for connection in (running, *many)} == {200}
    words = ["раз", "два", "три", "четыре"]
    assert [next(word for word in words if word in prompt) for prompt in order] == [
        "раз",
        "два",
        "четыре",
        "три",
    ]


def test_without_a_name_an_address_is_one_client(client, generator):
    order = []
    generator._replies = lambda messages: order.append(messages[-1].content) or SPOKEN
    running = begin(client, "/ask", question="отпуск раз")
    until(lambda: client.get("/status").json["generator"]["running"])
    many = []
    for n, question in enumerate(["отпуск два", "отпуск три"], 1):
        many.append(begin(client, "/ask", question=question))
        until(lambda n=n: waiting(client) == n)
    generator.go_on()
    assert {client.receive(connection).status for connection in (running, *many)} == {200}
    words = ["раз", "два", "три"]
    assert [next(word for word in words if word in prompt) for prompt in order] == words


def test_an_engine_that_fails_is_replaced_and_the_status_says_so(client, generator):
    generator.go_on()
    generator.fail = True
    reply = client.ask(ASKED).json
    assert (reply["outcome"], reply["model"], bool(reply["notes"])) == ("answered", "extractive", True)
    generator.fail = False
    assert client.ask(ASKED).json["answer"] == SPOKEN
    status = client.get("/status").json["generator"]
    assert (status["restarts"], status["state"]) == (1, "ready")
    assert b"otvet_generator_restarts_total 1\n" in client.get("/metrics").body
