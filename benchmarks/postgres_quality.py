"""Does the store ``postgres`` find what the store ``json`` finds? And which words should it count?

``python benchmarks/postgres_quality.py --home HOME --questions FILE [--url URL]``. HOME is an indexed base,
which is copied into PostgreSQL (that of the development wheel without a URL). Two tables: every strategy over
both stores with the usual reranking, and keyword search alone by BM25 over our stems, by ``ts_rank_cd`` over
the configurations ``russian`` and ``english``, and by ``ts_rank_cd`` over our stems.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

import psycopg

from pipeline import bootstrap
from pipeline.ports import Embedder
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.retrieval.search import retrieve_from
from pipeline.settings import Settings, load_settings
from pipeline.snapshot import Snapshot
from pipeline.stores import json_store
from pipeline.stores.postgres.ranking_sql import quoted
from pipeline.stores.postgres.schema import small_letters
from pipeline.stores.postgres.store import PostgresStore
from pipeline.text.normalise import clean_question
from pipeline.text.stems import keyword_terms
from pipeline.types import Query

_STRATEGIES = ("hybrid-z", "hybrid-rrf", "dense", "keyword")
_TOP = 30

Files = Sequence[str]
Question = tuple[str, frozenset[str]]


def main() -> None:
    """Copy the base, ask both stores, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--url", default="")
    arguments = parser.parse_args()
    settings = load_settings({"home": str(arguments.home)}).settings
    questions = _questions(arguments.questions)
    embedder = bootstrap.create_embedder(settings)
    index = json_store.load(settings.embeddings, embedder.spec)
    with _server(arguments.url) as url:
        store = PostgresStore(url)
        store.write(index)
        print(f"{len(index.chunks)} passages, {len(questions)} questions with an answer")
        with store.snapshot() as snapshot:
            stores: dict[str, Snapshot] = {"json": IndexSnapshot(index), "postgres": snapshot}
            for strategy in _STRATEGIES:
                _compare(stores, strategy, questions, embedder, settings)
        store.close()
        with psycopg.connect(url) as connection:
            for name, find in _WORDS.items():
                _print(name, [(find(connection, question), files) for question, files in questions])


def _questions(path: Path) -> list[Question]:
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [(line["question"], frozenset(line["files"])) for line in lines if line["files"]]


@contextlib.contextmanager
def _server(url: str) -> Iterator[str]:
    if url:
        yield url
        return
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    with import_module("postgres_server").start_server() as server, server.database() as made:
        yield made


def _compare(
    stores: dict[str, Snapshot],
    strategy: str,
    questions: Sequence[Question],
    embedder: Embedder,
    settings: Settings,
) -> None:
    lists: dict[str, list[list[str]]] = {}
    for name, snapshot in stores.items():
        found: list[list[str]] = []
        for question, _ in questions:
            query = Query(question, clean_question(question), strategy=strategy, top_k=10)
            retrieval = retrieve_from(query, snapshot, embedder, settings.search)
            found.append([one.hit.chunk.id for one in retrieval.candidates])
        lists[name] = found
        files = [[_file(snapshot, chunk) for chunk in one] for one in found]
        pairs = [(one, wanted) for one, (_, wanted) in zip(files, questions, strict=True)]
        _print(f"{strategy}, {name}", pairs)
    pairs_of_lists = zip(*lists.values(), strict=True)
    print(f"  the same passages in the same order: {sum(one == other for one, other in pairs_of_lists)}")


def _file(snapshot: Snapshot, chunk_id: str) -> str:
    chunk = snapshot.chunk(chunk_id)
    return chunk.file if chunk is not None else ""


def _print(name: str, found: Sequence[tuple[Files, frozenset[str]]]) -> None:
    places = [next((n for n, file in enumerate(files, 1) if file in wanted), 0) for files, wanted in found]
    shares = [sum(0 < place <= k for place in places) / len(places) for k in (1, 3)]
    mrr = sum(1 / place for place in places if place) / len(places)
    print(f"{name}: hit@1 {shares[0]:.2f}, hit@3 {shares[1]:.2f}, MRR {mrr:.3f}")


def _by_configurations(connection: psycopg.Connection, question: str) -> Files:
    either = [
        f"replace(plainto_tsquery('otvet.{name}', %(question)s)::text, ' & ', ' | ')::tsquery"
        for name in ("russian", "english")
    ]
    statement = (
        f"SELECT file FROM otvet.chunks, (SELECT {either[0]} || {either[1]} AS asked) AS question"
        " WHERE fulltext @@ asked ORDER BY ts_rank_cd(fulltext, asked, 1) DESC, id LIMIT %(top)s"
    )
    rows = connection.execute(statement.encode(), {"question": small_letters(question), "top": _TOP})
    return [file for (file,) in rows]


def _by_cover(connection: psycopg.Connection, question: str) -> Files:
    asked = " | ".join(quoted(term) for term in dict.fromkeys(keyword_terms(clean_question(question))))
    rows = connection.execute(
        "SELECT file FROM otvet.chunks WHERE words @@ %(asked)s::tsquery"
        " ORDER BY ts_rank_cd(words, %(asked)s::tsquery, 1) DESC, id LIMIT %(top)s",
        {"asked": asked, "top": _TOP},
    )
    return [file for (file,) in rows]


_WORDS: dict[str, Callable[[psycopg.Connection, str], Files]] = {
    "ts_rank_cd over russian and english": _by_configurations,
    "ts_rank_cd over our stems": _by_cover,
}


if __name__ == "__main__":
    main()
