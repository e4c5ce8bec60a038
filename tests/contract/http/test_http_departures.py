"""Several clients at once, and clients that leave (cases 26 and 27)."""

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from http_harness import TIMEOUT_S, Client
from scripted_service import BlockingService, ScriptedService
from werkzeug.serving import make_server

import server_flask
from pipeline.settings import Settings


def begin(client: Client, path: str) -> socket.socket:
    connection = client.connect()
    body = json.dumps({"question": "отпуск", "use_RAG": True}).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
    return connection


def leave(connection: socket.socket, how: str) -> None:
    if how == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()


def assert_leaving_frees_the_worker(client: Client, service: BlockingService, path: str, how: str) -> None:
    connection = begin(client, path)
    assert service.started.acquire(timeout=TIMEOUT_S)
    leave(connection, how)
    assert service.gone.acquire(timeout=TIMEOUT_S), "the service was not told that its client has gone"


@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("path", ["/ask", "/ask/stream"])
def test_a_client_that_leaves_frees_the_worker(start, path, how):
    """Case 27: twenty times in a row, and the next one is answered."""
    service = BlockingService(places=1)
    client = start(service)
    for _ in range(20):
        assert_leaving_frees_the_worker(client, service, path, how)
    service.release.set()
    assert client.ask({"question": "отпуск"}).status == 200
    assert client.get("/health").status == 200


@pytest.mark.parametrize("path", ["/ask", "/ask/stream"])
def test_a_client_that_waits_is_not_taken_for_gone(start, path):
    service = BlockingService()
    client = start(service)
    connection = begin(client, path)
    assert service.started.acquire(timeout=TIMEOUT_S)
    assert not service.gone.acquire(timeout=0.3)
    service.release.set()
    assert client.receive(connection).status == 200


@pytest.mark.parametrize("count", [2, 10])
def test_questions_at_once_each_get_their_own_answer(start, count):
    """Case 26."""
    client = start(ScriptedService(answer="Ответ на {question}"))
    together = threading.Barrier(count)

    def one(number: int):
        together.wait()
        return client.ask({"question": f"вопрос {number}", "format": False}).json

    with ThreadPoolExecutor(count) as pool:
        replies = list(pool.map(one, range(count)))
    assert [reply["answer"] for reply in replies] == [f"Ответ на вопрос {number}" for number in range(count)]
    assert len({reply["request_id"] for reply in replies}) == count


def test_a_full_queue_says_when_to_come_back(start):
    """Case 26."""
    service = BlockingService(places=2)
    client = start(service)
    waiting = [begin(client, "/ask") for _ in range(2)]
    for _ in waiting:
        assert service.started.acquire(timeout=TIMEOUT_S)
    refused = client.ask({"question": "отпуск"})
    assert (refused.status, refused.json["error"]) == (503, "busy")
    assert refused.header("Retry-After") == "7"
    assert client.get("/health").status == client.get("/ready").status == 200
    service.release.set()
    assert [client.receive(connection).status for connection in waiting] == [200, 200]


def test_short_requests_pass_while_the_queue_is_full(start):
    """Every place of the longest queue taken: threads are left for the rest."""
    settings = Settings()
    places = settings.server.queue_size + 1
    service = BlockingService(places=places)
    client = start(service, settings)
    waiting = [begin(client, "/ask/stream") for _ in range(places)]
    for _ in waiting:
        assert service.started.acquire(timeout=TIMEOUT_S)
    for path in ("/health", "/status", "/", "/static/favicon.svg"):
        assert client.get(path).status == 200
    service.release.set()
    assert [client.receive(connection).status for connection in waiting] == [200] * places


def test_the_server_stops_while_requests_run(start):
    service = BlockingService()
    client = start(service)
    for path in ("/ask", "/ask/stream"):
        begin(client, path)
        assert service.started.acquire(timeout=TIMEOUT_S)
    # The fixture stops the server now and fails if its thread does not end.


@pytest.mark.parametrize("path", ["/ask", "/ask/stream"])
@pytest.mark.parametrize("how", ["close", "reset"])
def test_flask_run_notices_a_client_that_leaves(path, how):
    """Flask's own development server, as ``flask --app server_flask run`` starts it."""
    service = BlockingService(places=1)
    server = make_server("127.0.0.1", 0, server_flask.create_app(service, Settings()), threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    client = Client(server.server_port)
    try:
        for _ in range(3):
            assert_leaving_frees_the_worker(client, service, path, how)
        service.release.set()
        assert client.ask({"question": "отпуск"}).status == 200
        assert client.ask({"question": "отпуск"}, "/ask/stream").status == 200
    finally:
        client.close()
        server.shutdown()
        thread.join(TIMEOUT_S)
        server.server_close()
