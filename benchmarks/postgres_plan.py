"""The one-statement hybrid search of the store ``postgres`` on 100,000 passages: plan, time, recall.

``python benchmarks/postgres_plan.py [--url URL] [--chunks N]``. Without a URL it starts the PostgreSQL of the
development wheel. Texts are made up (60,000 words by Zipf's law), vectors lie around 2,000 centres; a passage
has 16 token vectors, so that the base is small enough to be made in minutes.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import psycopg
from measures import percentile
from synthetic import make_index, make_questions

from pipeline.index import Index
from pipeline.ports import EmbedderSpec
from pipeline.retrieval.keyword import weighted_terms
from pipeline.snapshot import Asked
from pipeline.stores.postgres.snapshot import PostgresSnapshot
from pipeline.stores.postgres.store import PostgresStore
from pipeline.stores.token_store import QuantisedTokens
from pipeline.types import Filter, FloatMatrix

_CENTRES = 2000
_TOKENS = 16
_COUNT = 30
_VECTOR = re.compile(r"\[-?\d[^\]]*\]")
_SPEC = EmbedderSpec("synthetic/384", 384, "none", 512)
_FILTERS = {
    "none": None,
    "two fifths of the base": Filter(path_prefix="01"),
    "one folder of 4,000": Filter(path_prefix="003/"),
}


def main() -> None:
    """Make the base if need be, ask it, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="", help="an empty or an already filled database")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=100)
    arguments = parser.parse_args()
    with _server(arguments.url) as url:
        index = _index(arguments.chunks)
        store = PostgresStore(url, timeout_s=60)
        begin = time.perf_counter()
        report = store.write(index)
        print(f"write: {report}, {time.perf_counter() - begin:.1f} s")
        begin = time.perf_counter()
        print(f"write of the same: {store.write(index)}, {time.perf_counter() - begin:.1f} s")
        _print_sizes(url)
        for name, wanted in _FILTERS.items():
            _search(store, index, name, wanted, arguments.searches)
        for name, wanted in _FILTERS.items():
            _explain(store, index, name, wanted)
        store.close()


@contextlib.contextmanager
def _server(url: str) -> Iterator[str]:
    if url:
        yield url
        return
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    server = import_module("postgres_server").start_server()
    with server as running, running.database() as made:
        yield made


def _index(chunks: int) -> Index:
    index = make_index(chunks, _SPEC)
    rng = np.random.default_rng(5)
    centres = rng.standard_normal((_CENTRES, _SPEC.dimension), dtype=np.float32)
    vectors = centres[rng.integers(0, _CENTRES, chunks)]
    vectors += 0.8 * rng.standard_normal(vectors.shape, dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tokens = chunks * _TOKENS
    spans = np.tile(np.arange(_TOKENS, dtype=np.int32)[:, None] * 4 + np.array([0, 3], np.int32), (chunks, 1))
    packed = QuantisedTokens(
        rng.integers(-127, 128, (tokens, _SPEC.dimension), dtype=np.int8),
        np.full(tokens, 1 / 1400, dtype=np.float32),
        spans.astype(np.int32),
        np.arange(0, tokens + 1, _TOKENS, dtype=np.int64),
    )
    return replace(index, vectors=vectors, text_vectors=vectors, tokens=packed)


def _asked(snapshot: PostgresSnapshot, text: str, vector: FloatMatrix) -> Asked:
    return Asked(text, vector, weighted_terms(snapshot.statistics, text))


def _questions(index: Index, count: int) -> list[tuple[str, FloatMatrix]]:
    rng = np.random.default_rng(9)
    near = index.vectors[rng.integers(0, len(index.chunks), count)]
    near = near + 0.03 * rng.standard_normal(near.shape, dtype=np.float32)
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    return list(zip(make_questions(index, count), near, strict=True))


def _search(store: PostgresStore, index: Index, name: str, wanted: Filter | None, count: int) -> None:
    times: list[float] = []
    hits = asked_for = 0
    allowed = np.array(
        [wanted is None or chunk.file.startswith(wanted.path_prefix) for chunk in index.chunks]
    )
    for text, vector in _questions(index, count):
        with store.snapshot() as snapshot:
            asked = _asked(snapshot, text, vector)
            begin = time.perf_counter()
            snapshot.candidates(asked, wanted, mode="hybrid", fusion="rrf", count=_COUNT)
            times.append(time.perf_counter() - begin)
            dense = snapshot.candidates(asked, wanted, mode="dense", fusion="rrf", count=10)
        scores = np.where(allowed, index.vectors @ vector, -np.inf)
        best = {index.chunks[row].id for row in np.argsort(-scores)[:10]}
        hits += len(best & {dense.index.chunks[row].id for row in dense.pool.rows})
        asked_for += len(best)
    milliseconds = [f"p{part:.0%} {percentile(times, part) * 1000:.0f} ms" for part in (0.5, 0.99)]
    print(f"filter {name}: {', '.join(milliseconds)}, recall@10 of dense {hits / asked_for:.3f}")


def _explain(store: PostgresStore, index: Index, name: str, wanted: Filter | None) -> None:
    """The plan as the server carried it out, the vector and long lines cut."""
    text, vector = _questions(index, 1)[0]
    print(f"\nfilter {name}:")
    with store.snapshot() as snapshot:
        asked = _asked(snapshot, text, vector)
        for line in snapshot.explain(asked, wanted, mode="hybrid", fusion="rrf", count=_COUNT):
            print(_VECTOR.sub("[…]", line)[:180])


def _print_sizes(url: str) -> None:
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT relname, pg_total_relation_size(oid), relkind FROM pg_class"
            " WHERE relnamespace = 'otvet'::regnamespace AND relkind IN ('r', 'i')"
            " ORDER BY 2 DESC LIMIT 8"
        )
        for relation, size, kind in found:
            print(f"{'index' if kind == 'i' else 'table, with all'} {relation}: {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
