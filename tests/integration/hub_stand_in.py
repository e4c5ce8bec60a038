"""A small stand-in of the model hub's HTTP interface, as far as downloading files needs it.

``HEAD``/``GET /{owner}/{name}/resolve/{revision}/{path}`` answer as the hub does: small files
directly with a git hash as etag, large files by a redirect to ``/cdn/…`` with ``X-Linked-Etag``
(SHA-256) and ``X-Linked-Size``. ``GET`` obeys ``Range``.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

LARGE = 1000
"""From this size on a file is "large" and comes from the CDN."""


def git_hash(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@dataclass
class Hub:
    """What the stand-in serves and what it was asked."""

    address: str = ""
    storage: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    lies: dict[str, bytes] = field(default_factory=dict)
    """path -> bytes sent instead of those the checksums were made of."""
    cut_after: int | None = None
    """The next GET of a large file ends after so many bytes; later ones are refused until mended."""
    down: bool = False
    etags: bool = True
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    """(method, path, Range header)"""
    authorised: list[tuple[str, str | None]] = field(default_factory=list)

    def put(self, repo: str, revision: str, path: str, data: bytes) -> None:
        self.files[f"/{repo}/resolve/{revision}/{path}"] = data

    def ranges(self) -> list[str | None]:
        return [wanted for method, path, wanted in self.asked if method == "GET" and path.startswith("/cdn")]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, hub: Hub) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hub = hub
        hub.address = f"http://127.0.0.1:{self.server_address[1]}"
        # The storage is another host, as with the real hub.
        hub.storage = f"http://localhost:{self.server_address[1]}/cdn"

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that go away are part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        hub, path = self.server.hub, unquote(self.path.split("?")[0])
        hub.asked.append((self.command, path, self.headers.get("Range")))
        hub.authorised.append((path, self.headers.get("Authorization")))
        key = path.removeprefix("/cdn")
        if hub.down:
            self._send(503, {}, b"down")
        elif key not in hub.files:
            self._send(404, {"X-Error-Code": "EntryNotFound"}, b"")
        elif path.startswith("/cdn"):
            self._answer_from_storage(hub.lies.get(key, hub.files[key]))
        else:
            self._answer_from_hub(key, hub.files[key])

    def _answer_from_hub(self, key: str, data: bytes) -> None:
        hub = self.server.hub
        headers = {"X-Repo-Commit": "0" * 40}
        if len(data) < LARGE:
            if hub.etags:
                headers["ETag"] = f'"{git_hash(data)}"'
            self._send(200, headers, hub.lies.get(key, data))
            return
        if hub.etags:
            headers["X-Linked-Etag"] = f'"{hashlib.sha256(data).hexdigest()}"'
        self._send(302, headers | {"X-Linked-Size": str(len(data)), "Location": hub.storage + key}, b"")

    def _answer_from_storage(self, data: bytes) -> None:
        hub, start, status = self.server.hub, 0, 200
        if wanted := self.headers.get("Range"):
            start, status = int(wanted.removeprefix("bytes=").rstrip("-")), 206
        headers = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"} if start else {}
        if hub.cut_after is None:
            self._send(status, headers, data[start:])
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        self.wfile.write(data[start : start + hub.cut_after])
        self.close_connection = True
        hub.down = True

    def _send(self, status: int, headers: dict[str, str], data: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)


@contextmanager
def serving() -> Iterator[Hub]:
    """Serve on a free port of this machine."""
    hub = Hub()
    server = _Server(hub)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
