"""Server-sent events, the same from both servers."""

import json
import re

import pytest
from scripted_service import BlockingService, ScriptedService

from pipeline.errors import BusyError, GeneratorError, NotReadyError
from pipeline.web import events


def parse(body: bytes) -> list[tuple[str, dict]]:
    found = []
    for block in body.decode().split("\n\n"):
        if block and not block.startswith(":"):
            name, data = re.fullmatch(r"event: (\w+)\ndata: (.+)", block).groups()
            found.append((name, json.loads(data)))
    return found


def test_sources_then_tokens_then_the_whole_reply(start):
    service = ScriptedService(answer="Отпуск длится 28 дней [1].\n\nЭто всё.")
    answered = start(service).ask({"question": "отпуск -s", "use_RAG": True, "format": False}, "/ask/stream")
    assert answered.status == 200
    assert answered.header("Content-Type") == "text/event-stream; charset=utf-8"
    assert answered.header("Cache-Control") == "no-store"
    assert answered.header("Content-Length") is None
    found = parse(answered.body)
    assert [name for name, _ in found] == ["sources", "token", "token", "token", "done"]
    assert "".join(data["text"] for name, data in found if name == "token") == "".join(service.tokens)
    first, last = found[0][1], found[-1][1]
    assert list(first)[-1] == list(last)[-1] == "status"
    assert last["answer"] == service.answer
    assert last["flags"] == ["-s"]
    assert last["sources"][0]["stages"]
    assert last["request_id"] == answered.header("X-Request-Id")


def test_the_events_of_one_reply_equal_the_plain_reply(standing):
    fields = {"question": "отпуск", "use_RAG": True}
    plain = standing.ask(fields).json
    streamed = parse(standing.ask(fields, "/ask/stream/").body)[-1][1]
    plain.pop("request_id"), streamed.pop("request_id")
    assert streamed == plain


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BusyError(waiting=8, retry_after_s=3), 503),
        (NotReadyError(what="модель"), 503),
        (ValueError("тайна"), 500),
    ],
)
def test_an_error_before_the_first_event_is_a_status(start, error, status):
    answered = start(ScriptedService(error=error)).ask({"question": "отпуск"}, "/ask/stream")
    assert answered.status == status
    assert answered.json["status"] == "error"
    assert answered.header("Content-Type") == "application/json; charset=utf-8"
    assert "тайна" not in answered.body.decode()


def test_a_wrong_request_is_a_status(standing):
    answered = standing.ask({"question": "отпуск", "top_k": 0}, "/ask/stream")
    assert (answered.status, answered.json["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("error", "code"), [(GeneratorError(reason="x"), "generator"), (ValueError("тайна"), "internal")]
)
def test_an_error_in_mid_answer_is_the_last_event(start, error, code):
    service = ScriptedService(error=error, error_after=2)
    answered = start(service).ask({"question": "отпуск"}, "/ask/stream", Accept_Language="en")
    found = parse(answered.body)
    assert [name for name, _ in found] == ["sources", "token", "error"]
    assert list(found[-1][1]) == ["error", "message", "hint", "request_id", "status"]
    assert found[-1][1]["error"] == code
    assert "тайна" not in answered.body.decode()


def test_a_full_line_told_in_mid_stream_says_when_to_come_back(start):
    """The sources are shown all the same; the status is sent by then, so the event tells it."""
    service = ScriptedService(error=BusyError(waiting=8, retry_after_s=3), error_after=1)
    answered = start(service).ask({"question": "отпуск", "use_RAG": True}, "/ask/stream")
    assert answered.status == 200
    assert answered.body.startswith(b"event: sources\n")
    assert b'event: error\nretry: 3000\ndata: {"error":"busy"' in answered.body


def test_events_that_stop_without_an_end_are_told_from_an_answer(start):
    class Cut(ScriptedService):
        def stream(self, request, cancelled):
            yield from list(super().stream(request, cancelled))[:2]

    assert parse(start(Cut()).ask({"question": "отпуск"}, "/ask/stream").body)[-1][0] == "error"


def test_sources_are_sent_before_the_answer_exists_and_silence_is_filled(start, monkeypatch):
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.05)
    service = BlockingService()
    client = start(service)
    connection = client.connect()
    body = json.dumps({"question": "отпуск"}).encode()
    head = f"POST /ask/stream HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
    received = b""
    while b": waiting" not in received:
        received += connection.recv(65536)
    assert b"event: sources" in received
    assert b"event: token" not in received
    service.release.set()
    while b"event: done" not in received:
        received += connection.recv(65536)
    assert received.count(b"event: token") == 3


def test_a_client_of_http_1_0_gets_events_until_the_connection_closes(standing):
    body = json.dumps({"question": "отпуск"}).encode()
    head = f"POST /ask/stream HTTP/1.0\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    answered = standing.raw(head.encode() + body)
    assert [name for name, _ in parse(answered.body)][-1] == "done"


def test_events_begin_even_where_the_first_one_takes_long(start, monkeypatch):
    """A prompt over own data has no sources to show at once."""
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.05)

    class Slow(BlockingService):
        def stream(self, request, cancelled):
            yield from list(super().stream(request, cancelled))[1:]

    service = Slow()
    client = start(service)
    connection = client.connect()
    body = json.dumps({"question": "отпуск", "prompt": "Перескажи", "data": "текст"}).encode()
    head = f"POST /ask/stream HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
    received = b""
    while b": waiting" not in received:
        received += connection.recv(65536)
    assert received.startswith(b"HTTP/1.1 200")
    service.release.set()
    while b"event: done" not in received:
        received += connection.recv(65536)
