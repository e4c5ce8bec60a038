"""Qdrant's HTTP interface over the client's own local engine, for tests on a machine without a Qdrant server.

Requests are read by the models that are generated from Qdrant's own specification, so what the product
sends is checked against it; what comes back is the local engine's. It is no Qdrant: nothing is indexed,
sharded or replicated. ``failures`` says how the next requests are answered instead.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, TypeAdapter
from qdrant_client import QdrantClient, models

__all__ = ["QdrantServer", "serve_qdrant"]

_SELECTOR: TypeAdapter[Any] = TypeAdapter(models.PointIdsList | models.FilterSelector)


@dataclass
class QdrantServer:
    """A running stand-in.

    Attributes:
        url: Its address.
        requests: Method, path and body of every request so far.
        headers: The headers of the last one.
        failures: Status and body for the next requests, taken from the front; a status of 0 hangs up.
        before: Called with method and path before a request is carried out.
    """

    url: str = ""
    requests: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    failures: list[tuple[int, str]] = field(default_factory=list)
    before: Callable[[str, str], None] = lambda method, path: None
    engine: QdrantClient = field(default_factory=lambda: QdrantClient(":memory:"))
    lock: threading.RLock = field(default_factory=threading.RLock)

    def answer(self, method: str, path: str, body: dict[str, Any]) -> object:
        """What an operation gives, as JSON."""
        _, name, *rest = path.strip("/").split("/")
        operation = (method, "/".join(rest))
        with self.lock:
            return _plain(_OPERATIONS[operation](self.engine, name, body))


@contextmanager
def serve_qdrant() -> Iterator[QdrantServer]:
    """A stand-in on a free port of loopback."""
    server = QdrantServer()
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    httpd.daemon_threads = True
    server.url = f"http://127.0.0.1:{httpd.server_port}"
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
        server.engine.close()


def _handler(server: QdrantServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            path = urlsplit(self.path).path
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            server.headers = dict(self.headers.items())
            server.requests.append((self.command, path, body))
            server.before(self.command, path)
            if server.failures:
                status, text = server.failures.pop(0)
                if not status:
                    self.close_connection = True
                    return
                self._send(status, text)
                return
            try:
                result = server.answer(self.command, path, body)
            except ValueError as error:
                status = 404 if "not found" in str(error) else 400
                self._send(status, json.dumps({"status": {"error": str(error)}, "time": 0.0}))
                return
            self._send(200, json.dumps({"result": result, "status": "ok", "time": 0.0}))

        def _send(self, status: int, text: str) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_DELETE = _do  # noqa: N815 - http.server calls them so

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            pass

    return Handler


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


def _create(engine: QdrantClient, name: str, body: dict[str, Any]) -> object:
    asked = models.CreateCollection.model_validate(body)
    vectors, sparse = asked.vectors or {}, asked.sparse_vectors
    return engine.create_collection(name, vectors_config=vectors, sparse_vectors_config=sparse)


def _upsert(engine: QdrantClient, name: str, body: dict[str, Any]) -> object:
    asked = models.PointsList.model_validate(body)
    engine.upsert(name, asked.points, update_filter=asked.update_filter, update_mode=asked.update_mode)
    return {"operation_id": 1, "status": "completed"}


def _retrieve(engine: QdrantClient, name: str, body: dict[str, Any]) -> object:
    asked = models.PointRequest.model_validate(body)
    payload = True if asked.with_payload is None else asked.with_payload
    return engine.retrieve(name, asked.ids, with_payload=payload, with_vectors=asked.with_vector or False)


def _scroll(engine: QdrantClient, name: str, body: dict[str, Any]) -> object:
    asked = models.ScrollRequest.model_validate(body)
    points, following = engine.scroll(
        name,
        scroll_filter=asked.filter,
        limit=asked.limit or 10,
        offset=asked.offset,
        with_payload=True if asked.with_payload is None else asked.with_payload,
        with_vectors=asked.with_vector or False,
    )
    return {"points": _plain(points), "next_page_offset": following}


def _query(engine: QdrantClient, name: str, body: dict[str, Any]) -> object:
    asked = models.QueryRequest.model_validate(body)
    return engine.query_points(
        name,
        query=asked.query,
        prefetch=[_exact(one) for one in asked.prefetch] if isinstance(asked.prefetch, list) else None,
        using=asked.using,
        query_filter=asked.filter,
        limit=asked.limit or 10,
        with_payload=asked.with_payload or False,
        with_vectors=asked.with_vector or False,
    )


def _exact(asked: models.Prefetch) -> models.Prefetch:
    return asked.model_copy(update={"params": None})  # the local engine warns that it has no index


def _count(engine: QdrantClient, name: str, body: dict[str, Any]) -> object:
    return engine.count(name, models.CountRequest.model_validate(body).filter)


def _set_payload(engine: QdrantClient, name: str, body: dict[str, Any]) -> object:
    asked = models.SetPayload.model_validate(body)
    engine.set_payload(name, asked.payload, points=asked.points or asked.filter or [])
    return {"operation_id": 1, "status": "completed"}


def _delete(engine: QdrantClient, name: str, body: dict[str, Any]) -> object:
    engine.delete(name, points_selector=_SELECTOR.validate_python(body))
    return {"operation_id": 1, "status": "completed"}


_OPERATIONS: dict[tuple[str, str], Callable[[QdrantClient, str, dict[str, Any]], object]] = {
    ("GET", "exists"): lambda engine, name, _: {"exists": engine.collection_exists(name)},
    ("PUT", ""): _create,
    ("DELETE", ""): lambda engine, name, _: engine.delete_collection(name),
    ("PUT", "index"): lambda *_: {"operation_id": 1, "status": "completed"},
    ("PUT", "points"): _upsert,
    ("POST", "points"): _retrieve,
    ("POST", "points/scroll"): _scroll,
    ("POST", "points/query"): _query,
    ("POST", "points/count"): _count,
    ("POST", "points/payload"): _set_payload,
    ("POST", "points/delete"): _delete,
}
