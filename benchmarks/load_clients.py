"""Clients of ``load.py``: each asks, checks that the answer is its own, and counts.

Run as ``python load_clients.py --probe PORT SECONDS`` it is the one that watches ``/health``, in a process of
its own so that the load does not slow its clock.
"""

from __future__ import annotations

import http.client
import json
import random
import sys
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from load_report import Tally
from load_server import CODE, OBJECTS, code_of, object_name

__all__ = ["Caller", "RefusedError", "WrongError", "probe"]

TIMEOUT_S = 150
PROBE_EVERY_S = 0.05
LONGEST_PAUSE_S = 1.0


class WrongError(Exception):
    """An answer that is not what the contract promises."""


class RefusedError(Exception):
    """The server said when to come back; ``seconds`` is what it said."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Caller:
    """One client with a connection of its own.

    Args:
        port: Of the server, on this machine.
        number: Tells it from the others, and is the seed of what it asks.
    """

    def __init__(self, port: int, number: int) -> None:
        self._port = port
        self._headers = {"Content-Type": "application/json", "X-Client": f"load-{number}"}
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
        self._random = random.Random(number)
        self.tally = Tally()

    def run(self, until: float, kinds: tuple[str, ...]) -> None:
        """Ask again and again until a moment of ``time.monotonic``, coming back when told to."""
        while time.monotonic() < until:
            kind = self._random.choice(kinds)
            pause = self.once(kind)
            time.sleep(min(pause, LONGEST_PAUSE_S, max(0.0, until - time.monotonic())))

    def once(self, kind: str) -> float:
        """One question of a kind; seconds to wait before the next."""
        number = self._random.randrange(OBJECTS)
        started = time.perf_counter()
        try:
            getattr(self, kind)(number)
        except RefusedError as refused:
            self.tally.refused[kind] += 1
            return refused.seconds
        except (WrongError, OSError, http.client.HTTPException, ValueError, KeyError) as error:
            self.tally.wrong.append(f"{kind}: {type(error).__name__}: {error}"[:300])
            self._connection.close()
            return 0.1
        self.tally.answered[kind] += 1
        self.tally.seconds.setdefault(kind, []).append(time.perf_counter() - started)
        return 0.0

    def search(self, number: int) -> None:
        """Sources only."""
        found = self._json("GET", f"/search?q={quote(_question(number))}&top_k=1&format=false")
        self._check_source(found, number)

    def ask(self, number: int) -> None:
        """A written answer."""
        reply = self._json("POST", "/ask", _asked(number))
        self._check_source(reply, number)
        self._check_text(reply["answer"], number)

    def data(self, number: int) -> None:
        """A text from the caller's own data."""
        fields = {"prompt": "Перепиши данные.", "data": f"Код {object_name(number)} — {code_of(number)}."}
        self._check_text(self._json("POST", "/ask", _asked(number) | fields)["answer"], number)

    def stream(self, number: int) -> None:
        """A written answer as events."""
        draft, done = "", None
        for name, content in self.events(_asked(number)):
            if name == "token":
                draft += content["text"]
            if name == "done":
                done = content
        if done is None:
            raise WrongError("the stream ended without its last event")
        self._check_text(draft, number)
        self._check_text(done["answer"], number)

    def background(self, number: int) -> None:
        """A written answer, fetched later."""
        job = self._json("POST", "/ask?async=1", _asked(number), 202)
        until = time.monotonic() + TIMEOUT_S
        while job["state"] in ("queued", "running"):
            if time.monotonic() > until:
                raise WrongError("a question in the background did not end")
            time.sleep(min(job["poll_after_s"], 0.2))
            job = self._json("GET", f"/ask/{job['id']}")
        if job["state"] == "failed" and job["failure"]["error"] == "busy":
            raise RefusedError(1.0)
        if job["state"] != "done":
            raise WrongError(f"state {job['state']}")
        self._check_text(job["reply"]["answer"], number)

    def events(self, fields: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Events of a stream; stop iterating and ``leave`` to go away in mid-answer."""
        response = self._send("POST", "/ask/stream", fields)
        self._check_status(response, 200)
        for name, content, pause in _events(response):
            if name == "error":
                response.read()
                raise (
                    RefusedError(pause)
                    if content["error"] == "busy" and pause
                    else WrongError(content["error"])
                )
            yield name, content

    def asked(self, question: str) -> dict[str, Any]:
        """The reply to a question of the caller's own words."""
        return self._json("POST", "/ask", _asked(0) | {"question": question})

    def go_at_the_first_word(self) -> None:
        """Ask for an answer and leave as soon as it begins."""
        for name, _ in self.events(_asked(self._random.randrange(OBJECTS))):
            if name == "token":
                break
        self.leave()

    def leave(self) -> None:
        """Close the connection, whatever is under way."""
        if self._connection.sock is not None:
            self._connection.sock.close()
        self._connection.close()

    def status(self) -> dict[str, Any]:
        """``/status``."""
        return self._json("GET", "/status")

    def _json(
        self, method: str, path: str, fields: dict[str, Any] | None = None, status: int = 200
    ) -> dict[str, Any]:
        response = self._send(method, path, fields)
        self._check_status(response, status)
        found: dict[str, Any] = json.loads(response.read())
        if found["status"] != "ok":
            raise WrongError("the body is not whole")
        return found

    def _send(self, method: str, path: str, fields: dict[str, Any] | None) -> http.client.HTTPResponse:
        body = None if fields is None else json.dumps(fields).encode()
        self._connection.request(method, path, body, self._headers)
        return self._connection.getresponse()

    def _check_status(self, response: http.client.HTTPResponse, wanted: int) -> None:
        if response.status == wanted:
            return
        body = response.read()
        if response.status == 503:
            seconds = response.getheader("Retry-After")
            if seconds is None:
                raise WrongError("503 without Retry-After")
            raise RefusedError(float(seconds))
        raise WrongError(f"status {response.status}: {body[:200]!r}")

    def _check_source(self, reply: dict[str, Any], number: int) -> None:
        titles = [source["title"] for source in reply["sources"]]
        if titles != [object_name(number)]:
            raise WrongError(f"asked for {object_name(number)}, found {titles}")

    def _check_text(self, text: str, number: int) -> None:
        """Only the code that belongs to the question may be in the answer; a model may leave it out."""
        codes = set(CODE.findall(text))
        if codes - {code_of(number)}:
            self.tally.mixed.append(f"{object_name(number)}: {text}"[:300])
        if not codes:
            self.tally.uncited += 1


def _events(response: http.client.HTTPResponse) -> Iterator[tuple[str, dict[str, Any], float]]:
    """Name, data and the pause it asks for, of each event; everything is read, so the connection stays."""
    name, content, pause = "", "", 0.0
    for raw in response:
        key, _, value = raw.decode().rstrip("\n").partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            content = value
        elif key == "retry":
            pause = int(value) / 1000
        elif not key and content:
            yield name, json.loads(content), pause
            name, content, pause = "", "", 0.0


def _question(number: int) -> str:
    return f"Какой складской код: {object_name(number)}?"


def _asked(number: int) -> dict[str, Any]:
    return {
        "question": _question(number),
        "use_RAG": True,
        "format": False,
        "top_k": 1,
        "sources_limit": 1,
    }


def probe(port: int, seconds: float) -> list[float]:
    """Ask ``/health`` for so long; seconds of each answer, infinite where there was none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    times: list[float] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        started = time.perf_counter()
        connection.request("GET", "/health")
        response = connection.getresponse()
        response.read()
        times.append(time.perf_counter() - started if response.status == 200 else float("inf"))
        time.sleep(PROBE_EVERY_S)
    return times


if __name__ == "__main__":
    print(json.dumps(probe(int(sys.argv[2]), float(sys.argv[3]))))
