"""A server of OpenAI's protocol on loopback, without a model: words for tokens, hashes for vectors."""

from __future__ import annotations

import json
import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pipeline.embedders.hash import HashEmbedder
from pipeline.embedders.prefixes import prefix


@dataclass
class Problem:
    """An answer instead of the right one.

    Attributes:
        status: Of the reply; 0 closes the connection without one.
        after: Events of a stream that come first.
        path: Which request meets it; empty: the next one.
    """

    status: int = 500
    message: str = "no"
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    after: int = 0
    path: str = ""


@dataclass
class StandIn:
    """What it does, and what it has seen.

    Attributes:
        reply: What the model says; called with the messages.
        problems: Taken by one request each, first come first.
        tokenizes: Whether it has llama.cpp's ``/tokenize``.
        gate: Tokens wait for it.
        requests: Path and body of every request.
        open: Streams under way; ``most`` is the highest number of them.
        dropped: Streams whose client left in the middle.
    """

    reply: Callable[[list[dict[str, str]]], str] = lambda messages: "yes"
    problems: list[Problem] = field(default_factory=list)
    tokenizes: bool = True
    delay_s: float = 0.0
    gate: threading.Event | None = None
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    open: int = 0
    most: int = 0
    dropped: int = 0
    scheme: str = "none"
    url: str = ""
    embedder: HashEmbedder = field(default_factory=lambda: HashEmbedder(dimension=16, token_limit=100_000))
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def stand_in(**known: Any) -> Iterator[StandIn]:
    """Serve until the end of the block."""
    state = StandIn(**known)

    class Handler(_Handler):
        told = state

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    told: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self._answer(json.loads(self.rfile.read(length)))

    def _answer(self, body: dict[str, Any]) -> None:
        told = self.told
        with told.lock:
            told.requests.append((self.path, body))
            told.keys.append(self.headers.get("Authorization"))
            problem = self._problem()
        if problem is not None and not problem.after:
            self._fail(problem)
        elif self.path == "/v1/models":
            self._send({"object": "list", "data": [{"id": "stand-in", "object": "model"}]})
        elif self.path == "/tokenize" and told.tokenizes:
            self._send({"tokens": list(range(len(body["content"].split())))})
        elif self.path == "/v1/embeddings":
            self._embed(body)
        elif self.path == "/v1/chat/completions":
            self._chat(body, problem)
        else:
            self._fail(Problem(404, "there is no such address"))

    def _problem(self) -> Problem | None:
        for place, problem in enumerate(self.told.problems):
            if problem.path in ("", self.path) and self.path != "/tokenize":
                return self.told.problems.pop(place)
        return None

    def _embed(self, body: dict[str, Any]) -> None:
        before = prefix(self.told.scheme, "passage"), prefix(self.told.scheme, "query")
        texts = [text.removeprefix(before[0]).removeprefix(before[1]) for text in body["input"]]
        vectors = self.told.embedder.encode(texts, "passage").vectors
        rows = [
            {"object": "embedding", "index": place, "embedding": [float(3 * value) for value in row]}
            for place, row in enumerate(vectors)
        ]
        self._send({"object": "list", "data": rows[::-1], "model": body["model"]})

    def _chat(self, body: dict[str, Any], problem: Problem | None) -> None:
        told = self.told
        prompt = sum(len(message["content"].split()) for message in body["messages"])
        if prompt >= 400:
            self._fail(Problem(400, "the request exceeds the available context size"))
            return
        if not body.get("stream"):
            message = {"role": "assistant", "content": told.reply(body["messages"])}
            self._send({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        with told.lock:
            told.open += 1
            told.most = max(told.most, told.open)
        try:
            self._speak(body, problem)
        except OSError:
            told.dropped += 1
        finally:
            with told.lock:
                told.open -= 1

    def _speak(self, body: dict[str, Any], problem: Problem | None) -> None:
        told = self.told
        words = told.reply(body["messages"]).split(" ")
        pieces = [word if not place else f" {word}" for place, word in enumerate(words)]
        self._event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]})
        for number, piece in enumerate(pieces[: body["max_tokens"]]):
            while told.gate is not None and not told.gate.wait(0.01):
                if select.select([self.connection], [], [], 0)[0]:
                    raise ConnectionResetError  # nothing but the end can come from a client that waits
            time.sleep(told.delay_s)
            if problem is not None and number == problem.after:
                if problem.status:
                    self._event({"error": {"message": problem.message, "code": problem.status}})
                return
            self._event({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]})
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, value: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n")
        self.wfile.flush()

    def _fail(self, problem: Problem) -> None:
        if not problem.status:
            self.close_connection = True
            return
        self._send({"error": {"message": problem.message}}, problem.status, problem.headers, problem.body)

    def _send(
        self,
        value: dict[str, Any],
        status: int = 200,
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
    ) -> None:
        data = json.dumps(value).encode() if body is None else body
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)
