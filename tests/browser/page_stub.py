"""A tiny HTTP server that serves the page's files and scripted API replies, with the real CSP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from page_replies import error, explained, reply, word_matches

from pipeline.strategies import RERANKERS, STRATEGIES, Reranking, Strategy

ROOT = Path(__file__).resolve().parents[2]
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
NOT_READY = error("not_ready", "Загружается модель.", "Подождите.")
PATIENCE_S = 20.0


@dataclass
class Wait:
    """A step of a stream that lasts until the test sets the event."""

    event: threading.Event = field(default_factory=threading.Event)


@dataclass
class Script:
    """What the server says, and what it was asked.

    Attributes:
        ready: Whether ``/ready`` answers 200.
        searches: Question as typed -> reply, or (Wait, reply).
        streams: Question as typed -> steps: (event name, data), Wait, or bytes sent as they are.
        failures: Question as typed -> (HTTP status, error object).
        confirmations: Id of a statement that waits -> (HTTP status, reply).
    """

    ready: bool = True
    searches: dict[str, Any] = field(default_factory=dict)
    streams: dict[str, list[Any]] = field(default_factory=dict)
    failures: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    confirmations: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    confirmed: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    debugged: list[tuple[str, dict[str, list[str]]]] = field(default_factory=list)
    opinions: list[dict[str, Any]] = field(default_factory=list)
    searched: list[str] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)


def ways(known: Iterable[Strategy | Reranking]) -> list[dict[str, str]]:
    """What is registered, as the page needs it."""
    return [{"name": one.name, "flag": one.flag, "title": one.about["ru"].title} for one in known]


class Handler(BaseHTTPRequestHandler):
    """Routes of the page; one script for the whole server."""

    script: Script

    def log_message(self, *_: Any) -> None:
        """Keep the test output quiet."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        match url.path.split("/")[1]:
            case "":
                self._file(ROOT / "templates" / "index.html")
            case "static":
                self._file(ROOT / url.path.lstrip("/"))
            case "ready" if self.script.ready:
                self._json(200, {"ready": True, "status": "ok"})
            case "ready":
                self._json(503, NOT_READY)
            case "search":
                self._search(parse_qs(url.query)["q"][0])
            case "debug":
                name = url.path.split("/")[2]
                self.script.debugged.append((name, parse_qs(url.query)))
                self._json(200, explained() if name == "search" else word_matches())
            case "strategies":
                self._json(
                    200, {"strategies": ways(STRATEGIES), "rerankers": ways(RERANKERS), "status": "ok"}
                )
            case "favicon.ico":  # Chromium asks when a test opens a bare file
                self._send(204, "image/x-icon", b"")
            case _:
                self._json(404, error("not_found", f"Не найдено: {url.path}"))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/feedback":
            self.script.opinions.append(body)
            self._json(201, {"kept": True, "status": "ok"})
            return
        if self.path.endswith("/confirm"):
            name = self.path.split("/")[2]
            self.script.confirmed.append((name, body))
            self._json(*self.script.confirmations[name])
            return
        self.script.asked.append(body)
        self.script.languages.append(self.headers.get("Accept-Language", ""))
        question = body["question"]
        if question in self.script.failures:
            self._json(*self.script.failures[question])
        elif not self.script.ready:
            self._json(503, NOT_READY)
        else:
            self._stream(self.script.streams[question])

    def _search(self, question: str) -> None:
        self.script.searched.append(question)
        found = self.script.searches.get(question, reply(sources=[], question=question))
        if isinstance(found, tuple):
            found[0].event.wait(PATIENCE_S)
            found = found[1]
        self._json(200, found)

    def _stream(self, steps: list[Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.end_headers()
        try:
            for step in steps:
                self._step(step)
        except OSError:
            self.script.left.set()

    def _step(self, step: Any) -> None:
        if isinstance(step, Wait):
            self._wait(step)
        elif isinstance(step, bytes):
            self._write(step)
        else:
            name, data = step
            self._write(f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode())

    def _wait(self, step: Wait) -> None:
        for _ in range(int(PATIENCE_S / 0.02)):
            if step.event.wait(0.02):
                return
            # A comment line is what tells the server that the client has gone.
            self._write(b": waiting\n\n")
        raise TimeoutError("the test never released the stream")

    def _write(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()

    def _file(self, path: Path) -> None:
        if not path.is_file():
            self._json(404, error("not_found", path.name))
        else:
            self._send(200, f"{TYPES[path.suffix]}; charset=utf-8", path.read_bytes())

    def _json(self, status: int, body: dict[str, Any]) -> None:
        self._send(status, "application/json; charset=utf-8", json.dumps(body, ensure_ascii=False).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", CSP)
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True  # the page dropped a stale request


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that closes a connection is no news."""


@contextmanager
def serve(script: Script) -> Iterator[str]:
    """Serve the page on a free port of 127.0.0.1; yields its address without a slash at the end."""
    handler = type("ScriptedHandler", (Handler,), {"script": script})
    server = _Server(("127.0.0.1", 0), handler)
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
