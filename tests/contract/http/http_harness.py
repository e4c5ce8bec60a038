"""Both servers on real sockets, and a client that sends exactly the bytes it is told to."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import server_fastapi
import server_flask
from pipeline.settings import Settings
from pipeline.web.serving import FastapiServer, FlaskServer, listen, spare_threads

TIMEOUT_S = 20


@dataclass
class Answered:
    """A response as it came."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> dict:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        return self.headers.get(name)


@dataclass
class Client:
    """Talks to one server; ``raw`` sends bytes as they are."""

    port: int
    opened: list[socket.socket] = field(default_factory=list)

    def connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S)
        self.opened.append(connection)
        return connection

    def raw(self, data: bytes, method: str = "POST") -> Answered:
        with self.connect() as connection:
            connection.sendall(data)
            return self.receive(connection, method)

    def receive(self, connection: socket.socket, method: str = "POST") -> Answered:
        response = http.client.HTTPResponse(connection, method=method)
        response.begin()
        with response:
            return Answered(response.status, response.headers, response.read())

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answered:
        lines = [f"{method} {path} HTTP/1.1"]
        headers = {"Host": f"127.0.0.1:{self.port}"} | (headers or {})
        if body is not None:
            headers |= {"Content-Length": str(len(body))}
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return self.raw("\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b""), method)

    def get(self, path: str, **headers: str) -> Answered:
        return self.send(
            "GET", path, None, {name.replace("_", "-"): value for name, value in headers.items()}
        )

    def ask(self, fields: object, path: str = "/ask", **headers: str) -> Answered:
        given = {"Content-Type": "application/json"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.send("POST", path, json.dumps(fields, ensure_ascii=False).encode(), given)

    def close(self) -> None:
        for connection in self.opened:
            connection.close()


@contextmanager
def serving(kind: str, service: object, settings: Settings | None = None) -> Iterator[Client]:
    """One server in a thread, as ``otvet serve`` runs it, on a free port."""
    settings = settings or Settings()
    bound = listen("127.0.0.1", 0)
    port = bound.getsockname()[1]
    if kind == "fastapi":
        server = FastapiServer(server_fastapi.create_app(service, settings), bound)
    else:
        server = FlaskServer(server_flask.create_app(service, settings), bound, spare_threads(settings))
    thread = threading.Thread(target=server.run, name=f"serve-{kind}")
    thread.start()
    client = Client(port)
    try:
        yield client
    finally:
        client.close()
        server.stop()
        thread.join(TIMEOUT_S)
        bound.close()
        assert not thread.is_alive()
