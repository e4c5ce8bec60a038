"""The store on a real PostgreSQL: several writers, faults, and the plan of its search."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psycopg
import pytest
from postgres_server import LOCKED, OwnServer, Server
from store_bases import Paper, asked, base, found, texts_of

from pipeline.errors import IndexMissingError, StoreNotWrittenError, StoreUnreachableError
from pipeline.index import Index
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.stores.postgres.store import PostgresStore
from pipeline.text.bm25 import bm25
from pipeline.text.postings import chunk_postings
from pipeline.types import Filter


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    made = PostgresStore(postgres_url)
    yield made
    made.close()


def papers(source: str, count: int, version: int = 0) -> Index:
    return base(
        [
            Paper(
                f"{source}/{number}.txt",
                [f"{source} выпуск{version}", f"общее слово {source}{number}"],
                "тема",
            )
            for number in range(count)
        ]
    )


def test_sources_share_a_base_and_lose_nothing(postgres_url: str):
    """Two indexers at once, each with a source of its own: all of both is there, and in the statistics."""
    stores = [PostgresStore(postgres_url, source=name) for name in ("one", "two")]
    failed = list[BaseException]()

    def work(store: PostgresStore, name: str) -> None:
        try:
            for version in range(4):
                store.write(papers(name, 3 + version, version))
        except BaseException as error:  # noqa: BLE001 - shown below
            failed.append(error)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(stores, ("one", "two"), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    last = [papers(name, 6, 3) for name in ("one", "two")]
    union = stores[0].read()
    assert {chunk.id for chunk in union.chunks} == {chunk.id for index in last for chunk in index.chunks}
    assert set(union.manifest.files) == {name for index in last for name in index.manifest.files}
    exact = IndexSnapshot(union).statistics
    with stores[1].snapshot() as snapshot:
        assert snapshot.manifest.build_id not in {index.manifest.build_id for index in last}
        assert snapshot.statistics.chunks == exact.chunks == 24
        for term in (*union.postings.terms, "выпуск0", "выпуск1", "выпуск2"):
            assert snapshot.statistics.holding(term) == exact.holding(term), term
    assert stores[0].stamp() == stores[1].stamp()
    for one in stores:
        one.close()


def test_the_same_chunk_of_two_sources_is_one_candidate(postgres_url: str):
    index = papers("same", 3)
    stores = [PostgresStore(postgres_url, source=name) for name in ("one", "two")]
    for one in stores:
        one.write(index)
    with stores[0].snapshot() as snapshot:
        assert snapshot.statistics.chunks == 12
        excerpt = snapshot.candidates(asked(snapshot, "same0"), None, mode="hybrid", fusion="rrf", count=9)
        assert len(texts_of(excerpt)) == len(set(texts_of(excerpt))) == 4  # «same выпуск0» is in all papers
    assert len(stores[0].read().chunks) == 6
    for one in stores:
        one.close()


def test_a_source_with_another_embedder_is_refused_and_changes_nothing(postgres_url: str):
    first, second = PostgresStore(postgres_url, source="one"), PostgresStore(postgres_url, source="two")
    first.write(papers("one", 2))
    before = first.stamp()
    other = papers("two", 2)
    other = replace(other, manifest=replace(other.manifest, embedder_id="another/32"))
    with pytest.raises(StoreNotWrittenError, match="another/32"):
        second.write(other)
    assert first.stamp() == before
    assert len(first.read().chunks) == 4
    first.write(replace(papers("one", 2), manifest=replace(other.manifest, build_id="x")))
    with first.snapshot() as snapshot:
        assert snapshot.manifest.embedder_id == "another/32"
    first.close()
    second.close()


def test_readers_go_on_while_another_embedder_takes_over(store: PostgresStore):
    """New tables are filled and indexed beside the old ones; only the exchange at the end is exclusive."""
    store.write(papers("one", 3))
    index = papers("one", 3)
    other = replace(index, manifest=replace(index.manifest, embedder_id="another/32", build_id="other"))
    seen = list[tuple[str, int]]()

    def progress(done: int, total: int) -> None:
        if done == total:
            with store.snapshot() as snapshot:
                found = snapshot.candidates(
                    asked(snapshot, "one1"), None, mode="hybrid", fusion="rrf", count=9
                )
                seen.append((snapshot.manifest.embedder_id, len(texts_of(found))))

    report = store.write(other, progress)
    assert (report.added, report.removed, report.kept) == (6, 6, 0)
    assert seen == [("hash/32", 4)]
    with store.snapshot() as snapshot:
        assert snapshot.manifest == other.manifest
        found = snapshot.candidates(asked(snapshot, "one1"), None, mode="hybrid", fusion="rrf", count=9)
        assert len(texts_of(found)) == 4
    assert store.write(other).kept == 6


def test_a_failed_write_leaves_the_old_version(store: PostgresStore):
    store.write(papers("one", 2))
    before, chunks = store.stamp(), store.read().chunks
    broken = papers("one", 5, 1)
    broken = replace(broken, vectors=broken.vectors[:, :7])
    with pytest.raises(StoreNotWrittenError, match="7"):
        store.write(broken)
    assert store.stamp() == before
    assert store.read().chunks == chunks


def test_the_graph_obeys_filters_before_ranking(postgres_url: str):
    """The case of 50 nearer chunks, with the HNSW index in use and in every mode."""
    rng = np.random.default_rng(1)
    near = Paper("near.txt", [f"alpha beta {number}" for number in range(400)])
    far = Paper("far.txt", [f"alpha gamma {number}" for number in range(6)], tags=("wanted",))
    index = base((near, far))
    vectors = index.vectors + 0.05 * rng.standard_normal(index.vectors.shape, dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store = PostgresStore(postgres_url, exact_rows=0)
    store.write(replace(index, vectors=vectors))
    with store.snapshot() as snapshot:
        question = asked(snapshot, "alpha beta")
        for mode in ("dense", "keyword", "hybrid"):
            for wanted in (Filter(tags=("wanted",)), Filter(path_prefix="far")):
                excerpt = snapshot.candidates(question, wanted, mode=mode, fusion="rrf", count=3)
                assert len(excerpt.pool.rows) >= 3
                assert set(texts_of(excerpt)) <= set(far.passages)
        everything = snapshot.candidates(question, None, mode="hybrid", fusion="rrf", count=3)
        assert set(texts_of(everything)) <= set(near.passages)
    store.close()


def word_of(number: int) -> str:
    """A word of its own for each number."""
    return "".join("бвгджзклмн"[int(digit)] + "о" for digit in f"{number:04}") + "ф"


def test_the_plan_uses_the_graph_and_the_text_index(postgres_url: str):
    """One statement; HNSW for the meaning, GIN for the words, also under a filter."""
    rng = np.random.default_rng(2)
    many = [
        Paper(f"{number % 2}/{number}.txt", [f"{word_of(number)} общее {word_of(number % 300)}"])
        for number in range(2500)
    ]
    index = base(many)
    vectors = rng.standard_normal((len(index.chunks), 64), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tokens = replace(index.tokens, values=np.zeros((len(index.tokens.values), 64), np.int8))  # type: ignore[type-var]
    manifest = replace(index.manifest, dimension=64)
    # A walk with the usual care costs more than so few rows; here it is about the statement.
    store = PostgresStore(postgres_url, exact_rows=500, links=16, build=128, search=128)
    store.write(replace(index, manifest=manifest, vectors=vectors, text_vectors=vectors, tokens=tokens))
    with store.snapshot() as snapshot:
        # So few rows are read through sooner; docs/stores-postgres.md has the plan over 100,000.
        snapshot._connection.execute("SET LOCAL enable_seqscan = off")
        question = replace(asked(snapshot, f"{word_of(1077)} {word_of(42)}"), vector=vectors[7])
        for wanted in (None, Filter(path_prefix="1/")):
            plan = "\n".join(snapshot.explain(question, wanted, mode="hybrid", fusion="rrf", count=30))
            assert "Index Scan using chunks_embedding on chunks" in plan
            assert "Bitmap Index Scan on chunks_words" in plan
        dense = snapshot.candidates(question, None, mode="dense", fusion="rrf", count=10)
        best = np.argsort(-(vectors @ vectors[7]))[:10]
        assert len({index.chunks[row].id for row in best} & {one.id for one in found(dense)}) >= 9
    store.close()


def test_vectors_too_long_for_a_graph_are_compared_exactly(store: PostgresStore):
    index = papers("long", 2)
    wide = np.pad(index.vectors, ((0, 0), (0, 2100 - 32)))
    tokens = replace(index.tokens, values=np.zeros((len(index.tokens.values), 2100), np.int8))  # type: ignore[type-var]
    manifest = replace(index.manifest, dimension=2100)
    store.write(replace(index, manifest=manifest, vectors=wide, text_vectors=wide, tokens=tokens))
    with store.snapshot() as snapshot:
        question = replace(asked(snapshot, "long0"), vector=wide[0])
        excerpt = snapshot.candidates(question, None, mode="dense", fusion="rrf", count=2)
        assert texts_of(excerpt)[0] == index.chunks[0].text


def test_words_of_any_case_and_language_are_in_the_full_text(postgres_url: str):
    """The configurations know both languages, ё and capitals, whatever the locale of the server is."""
    store = PostgresStore(postgres_url)
    store.write(base([Paper("a.txt", ["ОТЧЁТЫ Reports ERR_42 от ЁЖИКОВ"])]))
    store.close()
    with psycopg.connect(postgres_url) as connection:
        row = connection.execute("SELECT fulltext::text, words::text FROM otvet.chunks").fetchone()
        assert row is not None
        for lexeme in ("'отчет'", "'report'", "'ежик'"):
            assert lexeme in row[0], row[0]
        assert "'err_42'" in row[1] or "'err-42'" in row[1], row[1]


def test_an_administrators_synonyms_are_found(postgres_url: str):
    """The configurations are of the base's own schema: what is added to them finds passages."""
    store = PostgresStore(postgres_url)
    with psycopg.connect(postgres_url) as connection:
        store.write(base([Paper("a.txt", ["совсем другое"])]))
        # There is no file of synonyms on this server; a dictionary of French brings words together too.
        connection.execute(
            "ALTER TEXT SEARCH CONFIGURATION otvet.russian ALTER MAPPING FOR asciiword WITH french_stem"
        )
    store.write(base([Paper("a.txt", ["majestueux"]), Paper("b.txt", ["nothing here"])]))
    with store.snapshot() as snapshot:
        question = asked(snapshot, "majestueuse")
        excerpt = snapshot.candidates(question, None, mode="keyword", fusion="rrf", count=3)
        assert texts_of(excerpt) == ["majestueux"]
    store.close()


def test_a_server_that_is_down_is_named_without_its_password(unused_port: int):
    store = PostgresStore(f"postgresql://user:s3cret@127.0.0.1:{unused_port}/kb", timeout_s=2)
    for call in (store.read, lambda: store.write(papers("a", 1)), store.stamp):
        with pytest.raises(StoreUnreachableError) as told:
            call()
        assert f"127.0.0.1:{unused_port}/kb" in str(told.value)
        assert "s3cret" not in str(told.value)
        assert "Connection refused. " in str(told.value)
    store.close()


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    "url", ["postgresql://u:s3cret@[::1/kb", "host=x passw0rd s3cret", "http://u:s3cret@h/kb"]
)
def test_an_address_that_is_none_is_not_repeated(url: str):
    with pytest.raises(StoreUnreachableError) as told:
        PostgresStore(url)
    assert "s3cret" not in str(told.value)
    assert "postgresql://" in str(told.value)


def test_a_wrong_password_is_said_and_not_shown(postgres_server: Server, postgres_url: str):
    if not isinstance(postgres_server, OwnServer):
        pytest.skip("needs a role that is asked for its password")
    postgres_server.run(f"CREATE ROLE {LOCKED} LOGIN PASSWORD 'right'")
    try:
        url = postgres_url.replace("postgres@", f"{LOCKED}:wr0ng-s3cret@")
        store = PostgresStore(url)
        with pytest.raises(StoreUnreachableError, match="password authentication failed") as told:
            store.stamp()
        assert "wr0ng-s3cret" not in str(told.value)
        allowed = PostgresStore(url.replace("wr0ng-s3cret", "right"))
        assert allowed.stamp() is None
        allowed.close()
    finally:
        postgres_server.run(f"DROP ROLE {LOCKED}")


def test_a_user_who_may_not_add_the_extension_is_told_so(postgres_server: Server, postgres_url: str):
    postgres_server.run("CREATE ROLE otvet_plain LOGIN")
    try:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("CREATE SCHEMA otvet AUTHORIZATION otvet_plain")
        store = PostgresStore(postgres_url.replace("postgres@", "otvet_plain@"))
        with pytest.raises(StoreNotWrittenError, match="CREATE EXTENSION vector"):
            store.write(papers("a", 1))
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
        store.write(papers("a", 1))  # a schema of one's own is enough then
        assert len(store.read().chunks) == 2
        store.close()
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP OWNED BY otvet_plain CASCADE")
    finally:
        postgres_server.run("DROP ROLE otvet_plain")


def test_a_user_who_may_only_read_is_enough_to_answer(postgres_server: Server, postgres_url: str):
    owner = PostgresStore(postgres_url)
    owner.write(papers("a", 2))
    owner.close()
    postgres_server.run("CREATE ROLE otvet_reader LOGIN")
    reader = PostgresStore(postgres_url.replace("postgres@", "otvet_reader@"))
    try:
        with pytest.raises(StoreUnreachableError, match="permission denied"):
            reader.stamp()
        with psycopg.connect(postgres_url) as connection:
            connection.execute("GRANT USAGE ON SCHEMA otvet TO otvet_reader")
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA otvet TO otvet_reader")
        with reader.snapshot() as snapshot:
            excerpt = snapshot.candidates(asked(snapshot, "a1"), None, mode="hybrid", fusion="rrf", count=3)
            assert texts_of(excerpt)
        with pytest.raises(StoreNotWrittenError, match="permission denied"):
            reader.write(papers("a", 3))
        assert len(reader.read().chunks) == 4
        reader.close()
        with psycopg.connect(postgres_url) as connection:
            connection.execute("DROP OWNED BY otvet_reader")
    finally:
        reader.close()
        postgres_server.run("DROP ROLE otvet_reader")


def test_a_database_without_unicode_is_refused(postgres_server: Server):
    name = "otvet_test_latin1"
    options = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    postgres_server.run(f"DROP DATABASE IF EXISTS {name}")
    postgres_server.run(f"CREATE DATABASE {name} {options}")
    store = PostgresStore(postgres_server.url_of(name))
    with pytest.raises(StoreNotWrittenError, match="LATIN1"):
        store.write(papers("a", 1))
    store.close()
    postgres_server.run(f"DROP DATABASE {name} WITH (FORCE)")


def test_tables_of_a_newer_program_are_left_alone(store: PostgresStore, postgres_url: str):
    store.write(papers("a", 1))
    with psycopg.connect(postgres_url) as connection:
        connection.execute("INSERT INTO otvet.migrations VALUES (99)")
    with pytest.raises(StoreNotWrittenError, match="99"):
        store.write(papers("a", 2))


def test_it_goes_on_after_the_server_was_restarted(postgres_server: Server, postgres_url: str):
    if not isinstance(postgres_server, OwnServer):
        pytest.skip("needs a server that may be restarted")
    store = PostgresStore(postgres_url, timeout_s=20)
    store.write(papers("a", 2))

    def caught_by_the_restart() -> None:
        with store.snapshot() as snapshot:
            assert snapshot.statistics.chunks == 4
            postgres_server.restart()
            snapshot.listing(None, 1)

    with pytest.raises(StoreUnreachableError):
        caught_by_the_restart()
    with store.snapshot() as snapshot:
        assert snapshot.statistics.chunks == 4
        assert len(texts_of(snapshot.listing(None, 9))) == 4
    assert store.write(papers("a", 3)).added == 2
    store.close()


def test_a_statement_that_waits_too_long_is_given_up(postgres_url: str):
    store = PostgresStore(postgres_url, timeout_s=2)
    store.write(papers("a", 2))
    with psycopg.connect(postgres_url) as connection:
        connection.execute("LOCK TABLE otvet.chunks IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StoreUnreachableError, match="statement timeout"), store.snapshot():
            pass
    assert store.read().chunks
    store.close()


def test_schemas_hold_different_bases(postgres_url: str):
    one, other = PostgresStore(postgres_url), PostgresStore(postgres_url, schema='Вторая "база"')
    one.write(papers("a", 1))
    with pytest.raises(IndexMissingError):
        other.read()
    other.write(papers("b", 2))
    assert len(one.read().chunks) == 2
    assert len(other.read().chunks) == 4
    with other.snapshot() as snapshot:
        assert texts_of(
            snapshot.candidates(asked(snapshot, "b1"), None, mode="hybrid", fusion="zscore", count=2)
        )
    one.close()
    other.close()


def test_bm25_in_sql_is_that_of_the_product(store: PostgresStore):
    """Also for terms that occur often, for near spellings and for passages of any length."""
    texts = ["слово " * count + "иное " * (count // 3) for count in (1, 2, 3, 5, 17, 60, 250)]
    index = base([Paper(f"{number}.txt", [text + "отчёт ERR_42"]) for number, text in enumerate(texts)])
    store.write(index)
    with store.snapshot() as snapshot:
        for question in ("слово", "слово иное отчет", "слвоо инае", "ERR_42 слово"):
            asked_for = asked(snapshot, question)
            excerpt = snapshot.candidates(asked_for, None, mode="keyword", fusion="rrf", count=20)
            expected = dict(
                zip((chunk.id for chunk in index.chunks), bm25(index.postings, asked_for.terms), strict=True)
            )
            assert len(excerpt.pool.rows) == sum(score > 0 for score in expected.values())
            for chunk, score in zip(found(excerpt), excerpt.pool.keyword, strict=True):
                assert score == pytest.approx(expected[chunk.id], rel=1e-4), (question, chunk.file)


def test_postings_of_an_excerpt_are_those_of_its_texts(store: PostgresStore):
    store.write(papers("a", 4))
    with store.snapshot() as snapshot:
        excerpt = snapshot.candidates(
            asked(snapshot, "общее слово"), None, mode="hybrid", fusion="rrf", count=9
        )
    mine, its = chunk_postings(excerpt.index.chunks), excerpt.index.postings
    assert dict(mine.terms) == dict(its.terms)
    for name in ("starts", "rows", "counts", "lengths"):
        assert np.array_equal(getattr(mine, name), getattr(its, name))


def test_the_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    import sys

    from pipeline.errors import ExtraMissingError

    monkeypatch.setitem(sys.modules, "psycopg_pool", None)
    with pytest.raises(ExtraMissingError, match="postgres"):
        PostgresStore(f"postgresql://localhost/{tmp_path.name}")
