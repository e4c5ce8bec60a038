"""Requests as 1C:Enterprise 8.3 writes them, byte for byte, to both servers (B1-B7, B12, B14, case 29)."""

from __future__ import annotations

import json
import socket

import pytest
from scripted_service import ScriptedService
from speaking_service import SPOKEN, SteppedGenerator, speaking, until

from pipeline.settings import ServerSettings, Settings

BOM = b"\xef\xbb\xbf"
KEY = "5b8e2f36-9d0c-4a8e-8a57-0f4c7f0d2b11"

# ЗаписьJSON with its defaults: line breaks without indent, Cyrillic as it is, a tab as \u0009, numbers of
# 27 digits, Неопределено as null.
ASK = (
    "{\r\n"
    '"question": "Сколько дней\\u0009длится отпуск?\\r\\nСрочно!",\r\n'
    '"use_RAG": true,\r\n'
    '"format": false,\r\n'
    '"top_k": 3,\r\n'
    '"deadline_s": 33.333333333333333333333333333,\r\n'
    '"filter": null\r\n'
    "}"
).encode()
CLASSIFY = (
    "{\r\n"
    '"labels": [\r\n"Отпуск",\r\n"Склад"\r\n],\r\n'
    '"texts": [\r\n"Прошу отпуск\\u0009с понедельника.",\r\n"Где ключ от склада?\\r\\n"\r\n],\r\n'
    '"prompt": null,\r\n'
    '"threshold": 0.1\r\n'
    "}"
).encode()
FORMS = {
    "utf-8": (b"", ASK, ()),
    "utf-8 with BOM": (BOM, ASK, ()),
    "content type": (b"", ASK, ("Content-Type: application/json; charset=utf-8",)),
    "content type and BOM": (BOM, ASK, ("Content-Type: application/json",)),
    "text": (BOM, ASK, ("Content-Type: text/plain; charset=utf-8",)),
    "windows-1251": (
        b"",
        ASK.decode().encode("cp1251"),
        ("Content-Type: text/plain; charset=windows-1251",),
    ),
    "utf-16": (b"\xff\xfe", ASK.decode().encode("utf-16-le"), ()),
    "symbols beyond ASCII escaped": (b"", json.dumps(json.loads(ASK), indent=0).encode(), ()),
}


def request(body: bytes, path: str = "/ask", *headers: str) -> bytes:
    """The headers on the wire: those of the platform, then those that code has inserted."""
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: localhost:8000",
        "User-Agent: 1C+Enterprise/8.3",
        "Accept: */*",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def poll(path: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", "Host: localhost:8000", "User-Agent: 1C+Enterprise/8.3", "Accept: */*"]
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.fixture
def generator():
    return SteppedGenerator()


@pytest.fixture
def client(start, tmp_path, generator):
    with speaking(tmp_path, generator, places=4) as service:
        yield start(service, Settings(server=ServerSettings(queue_size=4)))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_body_says_the_same(start, form):
    mark, body, headers = FORMS[form]
    service = ScriptedService()
    answered = start(service).raw(request(mark + body, "/ask", *headers))
    assert answered.status == 200, answered.body.decode()
    asked = service.requests[0]
    assert asked.question == "Сколько дней\tдлится отпуск?\r\nСрочно!"
    assert (asked.use_rag, asked.top_k, asked.filter) == (True, 3, None)
    assert asked.deadline_s == pytest.approx(100 / 3)


def test_replies_are_what_the_platform_can_read(start):
    client = start(ScriptedService())
    for data in (request(BOM + ASK), request(b"{"), request(ASK, "/nowhere"), poll("/ask/nobody")):
        answered = client.raw(data)
        assert answered.header("Content-Type") == "application/json; charset=utf-8"
        assert answered.header("Content-Length") == str(len(answered.body))
        assert answered.header("Content-Encoding") is None
        assert answered.header("Location") is None
        assert not answered.body.startswith(BOM)
        # One line: a line break within a text is written as \n.
        assert b"\n" not in answered.body
        assert list(answered.json)[-1] == "status"


def test_one_connection_object_asks_again_and_again(start):
    """Keep-alive: bodies with and without BOM, polls and errors in turn on one socket."""
    client = start(ScriptedService())
    connection = client.connect()
    for data, status in 3 * (
        (request(ASK), 200),
        (request(BOM + ASK), 200),
        (poll("/health"), 200),
        (request(b"{"), 400),
        (poll("/ask/nobody"), 404),
        (request(BOM + ASK, "/ask/"), 200),
    ):
        connection.sendall(data)
        assert client.receive(connection, "GET").status == status


def test_a_request_that_comes_in_pieces(start):
    """The platform may send the head and the body as two packets, and a slow line cuts anywhere."""
    client = start(ScriptedService())
    data = request(BOM + ASK)
    for size in (1, 7, len(data) - len(ASK), 1000):
        connection = client.connect()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for place in range(0, len(data), size):
            connection.sendall(data[place : place + size])
        assert client.receive(connection).status == 200


def test_fifty_timeouts_with_one_key_cost_one_answer(client, generator):
    """The connection is closed at each timeout and the request sent anew, with a BOM or without."""
    data = [request(mark + ASK, "/ask", f"Idempotency-Key: {KEY}") for mark in (b"", BOM)]
    for attempt in range(49):
        connection = client.connect()
        connection.sendall(data[attempt % 2])
        if attempt == 0:
            until(lambda: client.get("/status").json["generator"]["running"])
        connection.close()
    generator.go_on()
    answered = client.raw(data[1])
    while answered.status == 503:
        assert answered.json["error"] == "busy"
        answered = client.raw(data[1])
    assert answered.status == 200
    assert answered.json["answer"].startswith(SPOKEN)
    assert len(generator.calls) == 1


def test_a_batch_sent_fifty_times_is_classified_once(client, generator):
    data = [request(mark + CLASSIFY, "/classify", f"Idempotency-Key: {KEY}") for mark in (b"", BOM)]
    for attempt in range(49):
        connection = client.connect()
        connection.sendall(data[attempt % 2])
        connection.close()
    generator.go_on()
    accepted = client.raw(data[0])
    assert accepted.status == 202
    done = client.raw(poll(f"/classify/{accepted.json['id']}?wait=20"), "GET")
    assert (done.json["state"], done.json["done"]) == ("done", 2)
    assert [call[-1].content for call in generator.calls] == [
        "Прошу отпуск\tс понедельника.",
        "Где ключ от склада?",
    ]


def test_the_background_way_of_the_form(client, generator):
    """НачатьВопрос, СостояниеВопроса, ОтменитьВопрос of docs/1c."""
    connection = client.connect()
    connection.sendall(request(BOM + ASK, "/ask?async=1", f"Idempotency-Key: {KEY}"))
    accepted = client.receive(connection)
    assert accepted.status == 202
    path = f"/ask/{accepted.json['id']}"
    connection.sendall(poll(path))
    assert client.receive(connection, "GET").json["state"] in ("queued", "running")
    generator.go_on()
    until(lambda: client.raw(poll(path), "GET").json["state"] == "done")
    connection.sendall(poll(path).replace(b"GET", b"DELETE", 1))
    assert client.receive(connection, "DELETE").json["reply"]["status"] == "ok"
