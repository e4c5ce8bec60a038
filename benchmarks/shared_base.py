"""Four servers and two indexers over one base in PostgreSQL: is an update lost, are versions mixed?

``python benchmarks/shared_base.py [--seconds 60] [--workers 4] [--url URL]``. Real processes: ``uvicorn`` of
so many workers, and one ``otvet index`` after another for each of two knowledge bases, whose documents all
name the edition they belong to. Meanwhile clients ask. Every reply names the version of the base
(``kb_version``); each of its sources must be of the edition that this version holds. At the end both bases
must be there in their last edition, with the statistics of their words.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import psycopg
from measures import percentile

from pipeline.stores import records
from pipeline.stores.postgres.store import PostgresStore
from pipeline.stores.postgres.union import Part, united_manifest
from pipeline.text.postings import chunk_postings

__all__ = ["Outcome", "run"]

SOURCES = ("one", "two")
_ROOT = Path(__file__).resolve().parents[1]
_EDITION = re.compile(r"издание (\d+)")
_START_S = 90.0

_Reply = tuple[str, list[tuple[str, str]]]
"""Version of the base, and file and quote of each source."""


@dataclass
class Outcome:
    """What happened.

    Attributes:
        replies: How many replies with sources came.
        mixed: Replies with a source of another edition than their version holds.
        unknown: Replies that name a version nobody wrote.
        failed: Requests without a reply, as text.
        versions: Versions of the base that replies named.
        editions: Source -> editions that were written.
        lost: What the base does not hold at the end, though it was written last, as text.
        workers: Numbers of the server processes.
        seconds: Of each request.
    """

    replies: int = 0
    mixed: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    versions: set[str] = field(default_factory=set)
    editions: dict[str, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    workers: int = 0
    seconds: list[float] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Nothing lost, nothing mixed, nothing failed."""
        return not (self.mixed or self.unknown or self.failed or self.lost)


def main() -> None:
    """Run it, print, and fail where something was lost or mixed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--files", type=int, default=12)
    parser.add_argument("--url", default="", help="an empty database; default: that of the development wheel")
    arguments = parser.parse_args()
    with _database(arguments.url) as url, tempfile.TemporaryDirectory() as work:
        outcome = run(
            url,
            Path(work),
            seconds=arguments.seconds,
            workers=arguments.workers,
            clients=arguments.clients,
            files=arguments.files,
        )
    print(f"{outcome.workers} server processes, editions written: {outcome.editions}")
    print(f"{outcome.replies} replies of {len(outcome.versions)} versions")
    times = [f"p{part:.0%} {percentile(outcome.seconds, part) * 1000:.0f} ms" for part in (0.5, 0.99)]
    print(f"{', '.join(times)} a request")
    for name in ("mixed", "unknown", "failed", "lost"):
        found = getattr(outcome, name)
        print(f"{name}: {len(found)} {found[:3] if found else ''}")
    sys.exit(0 if outcome.sound else 1)


def run(
    url: str,
    work: Path,
    *,
    seconds: float,
    workers: int = 4,
    clients: int = 4,
    files: int = 12,
    editions: int = 0,
) -> Outcome:
    """Index, serve and ask at the same time.

    Args:
        url: An empty database.
        work: An empty folder.
        seconds: How long, once the servers answer.
        workers: Processes of ``uvicorn``.
        clients: Threads that ask.
        files: Documents of each knowledge base.
        editions: So many of each at least, however long that takes.
    """
    outcome = Outcome()
    indexers = [_Indexer(name, work / name, url, files) for name in SOURCES]
    for indexer in indexers:
        indexer.write_edition()
    stop = threading.Event()
    port = _free_port()
    with _serving(work / "server", url, port, workers) as server:
        _wait_until_ready(port, server)
        outcome.workers = _workers(server.pid)
        threads = [threading.Thread(target=one.work, args=(stop, outcome)) for one in indexers]
        asking = [_Client(port, number, files) for number in range(clients)]
        threads += [threading.Thread(target=one.work, args=(stop, outcome)) for one in asking]
        for thread in threads:
            thread.start()
        until = time.monotonic() + seconds
        while time.monotonic() < until or min(one.edition for one in indexers) < editions:
            if outcome.failed:
                break
            time.sleep(0.2)
        stop.set()
        for thread in threads:
            thread.join()
    outcome.editions = {one.name: one.edition for one in indexers}
    replies = [reply for one in asking for reply in one.replies]
    _check_replies(replies, _versions(indexers), outcome)
    _check_base(url, indexers, outcome)
    return outcome


class _Indexer:
    """Writes edition after edition of one knowledge base, each with an ``otvet index`` of its own."""

    def __init__(self, name: str, home: Path, url: str, files: int) -> None:
        self.name = name
        self.edition = 0
        self.parts: list[Part] = []
        self._home = home
        self._url = url
        self.files = files

    def write_edition(self) -> None:
        """The next edition of all documents, indexed."""
        edition = self.edition + 1
        folder = self._home / "knowledge_base" / self.name
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(self.files):
            text = f"Правило {number} отдела {self.name}, издание {edition}. Действует с понедельника.\n"
            (folder / f"{number}.txt").write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "pipeline.cli", "--home", str(self._home), "index"]
        environment = _environment(self._url, self.name)
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, cwd=_ROOT, check=False
        )
        if done.returncode:
            raise RuntimeError(f"otvet index: {done.stdout}{done.stderr}")
        self.edition = edition
        # Nobody else writes this source, so what stands there now is this edition.
        self.parts.append(_part(self._url, self.name))

    def work(self, stop: threading.Event, outcome: Outcome) -> None:
        """Until it is told to stop."""
        while not stop.is_set():
            try:
                self.write_edition()
            except RuntimeError as error:
                outcome.failed.append(str(error))
                return


def _part(url: str, name: str) -> Part:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT manifest, chunks FROM otvet.sources WHERE name = %s", [name])
        row = found.fetchone()
        if row is None:
            raise RuntimeError(f"nothing is written of {name}")
    return Part(name, records.manifest_from(json.loads(row[0])), None, row[1])


def _versions(indexers: list[_Indexer]) -> dict[str, dict[str, int]]:
    """Version of the base -> the edition of each source that it holds."""
    one, two = indexers
    return {
        united_manifest([first, second]).build_id: {one.name: n, two.name: m}
        for n, first in enumerate(one.parts, 1)
        for m, second in enumerate(two.parts, 1)
    }


def _check_replies(
    replies: list[_Reply], versions: Mapping[str, Mapping[str, int]], outcome: Outcome
) -> None:
    for version, sources in replies:
        outcome.replies += bool(sources)
        outcome.versions.add(version)
        if version not in versions:
            outcome.unknown.append(version)
            continue
        for file, quote in sources:
            said = _EDITION.search(quote)
            expected = versions[version][file.split("/")[0]]
            if said is None or int(said[1]) != expected:
                outcome.mixed.append(f"{file}: «{quote}», expected {expected}")


def _check_base(url: str, indexers: list[_Indexer], outcome: Outcome) -> None:
    """The last edition of both sources, every document once, and the statistics of its words."""
    with contextlib.closing(PostgresStore(url)) as store:
        index = store.read()
        texts = {chunk.file: chunk.text for chunk in index.chunks}
        for one in indexers:
            for number in range(one.files):
                text = texts.pop(f"{one.name}/{number}.txt", "nothing")
                if f"издание {one.edition}." not in text:
                    outcome.lost.append(f"{one.name}/{number}.txt: {text}")
        outcome.lost += [f"left over: {file}" for file in texts]
        postings = chunk_postings(index.chunks)
        with store.snapshot() as snapshot:
            for term, number in postings.terms.items():
                held = int(postings.starts[number + 1] - postings.starts[number])
                if snapshot.statistics.holding(term) != held:
                    outcome.lost.append(f"statistics of {term}")
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM otvet.terms").fetchone()
        if row is None or row[0] != len(postings.terms):
            outcome.lost.append(f"terms: {row} for {len(postings.terms)}")


class _Client:
    """Asks about one document after another, as long as it may."""

    def __init__(self, port: int, number: int, files: int) -> None:
        self.replies: list[_Reply] = []
        self._port = port
        self._turn = number
        self._files = files

    def work(self, stop: threading.Event, outcome: Outcome) -> None:
        """Until it is told to stop, or a request fails."""
        while not stop.is_set():
            self._turn += 1
            question = f"правило {self._turn % self._files} отдела {SOURCES[self._turn % 2]}"
            begin = time.monotonic()
            try:
                reply = _post(self._port, {"question": question, "use_rag": False, "top_k": 6})
            except (OSError, ValueError) as error:
                outcome.failed.append(f"{type(error).__name__}: {error}")
                return
            outcome.seconds.append(time.monotonic() - begin)
            found = [(one["file"], one["quote"]) for one in reply["sources"]]
            self.replies.append((reply["kb_version"], found))


def _post(port: int, body: object) -> dict[str, Any]:
    # A connection for each request, so that all workers get some.
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/ask",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Connection": "close"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        reply: dict[str, Any] = json.load(answer)
    return reply


@contextlib.contextmanager
def _serving(home: Path, url: str, port: int, workers: int) -> Iterator[subprocess.Popen[bytes]]:
    home.mkdir()
    command = [sys.executable, "-m", "uvicorn", "server_fastapi:app", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--workers", str(workers), "--log-level", "warning"]
    environment = _environment(url, "reader") | {"OTVET_HOME": str(home)}
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, cwd=_ROOT, stdout=log, stderr=log)
    try:
        yield server
    finally:
        server.terminate()
        try:
            server.wait(timeout=30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _environment(url: str, source: str) -> dict[str, str]:
    store = {"KIND": "postgres", "URL": url, "SOURCE": source, "POOL": "4"}
    named = {f"OTVET_STORE__{name}": value for name, value in store.items()}
    return dict(os.environ) | named | {"OTVET_PROFILE": "search", "PYTHONPATH": str(_ROOT)}


def _wait_until_ready(port: int, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _START_S
    while True:
        try:
            _post(port, {"question": "правило", "use_rag": False})
            return
        except (OSError, ValueError) as error:
            if server.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the server does not answer: {error}") from error
            time.sleep(0.2)


def _workers(parent: int) -> int:
    import psutil

    found = psutil.Process(parent).children(recursive=True)
    return sum("spawn_main" in " ".join(one.cmdline()) for one in found)


@contextlib.contextmanager
def _database(url: str) -> Iterator[str]:
    if url:
        yield url
        return
    sys.path.insert(0, str(_ROOT / "tests"))
    with import_module("postgres_server").start_server() as server, server.database() as made:
        yield made


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
