"""Case 36 and our own hostile statements on SQLite: through the guard, and past it."""

import hashlib
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hostile_sql import BOTH, CASE_36, SQLITE

from pipeline.errors import StatementFailedError, StatementRefusedError, StatementSlowError
from pipeline.ingest.sources.declared import load_sources
from pipeline.settings import SqlSettings
from pipeline.sql.database import Database, open_databases
from pipeline.sql.demo.make import make_demo
from pipeline.sql.runner import Limits, run_statement

STATEMENTS = [text.replace("{t}", "orders") for text in (*CASE_36, *BOTH, *SQLITE)]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Database:
    folder = tmp_path_factory.mktemp("hostile")
    make_demo(folder)
    with closing(sqlite3.connect(folder / "shop.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE secrets (a TEXT)")
        connection.execute("INSERT INTO secrets VALUES ('not declared')")
    return open_databases(load_sources(folder).database, folder, SqlSettings())["shop"]


@pytest.fixture
def unchanged(shop, tmp_path, monkeypatch):
    """Fails when a statement has changed a byte of the base, or made a file."""
    path = Path(shop.access.place)
    monkeypatch.chdir(tmp_path)

    def state() -> tuple[str, list[str]]:
        files = sorted(item.name for folder in (path.parent, tmp_path) for item in folder.iterdir())
        return hashlib.sha256(path.read_bytes()).hexdigest(), files

    before = state()
    yield
    assert state() == before


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_guard_refuses_it(statement, shop, unchanged):
    """Case 36."""
    with pytest.raises(StatementRefusedError) as caught:
        shop.check(statement)
    assert caught.value.message("ru")
    assert caught.value.message("en")


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_connection_alone_changes_nothing(statement, shop, unchanged):
    """Case 36: were the guard to miss it."""
    with suppress(StatementFailedError):
        run_statement(shop.access, statement, Limits(rows=10, seconds=0.3))


def test_an_endless_statement_ends(shop):
    endless = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT COUNT(*) FROM x"
    with pytest.raises(StatementSlowError):
        run_statement(shop.access, endless, Limits(seconds=0.2))


def test_a_join_of_everything_with_everything_ends(shop):
    crossed = (
        "SELECT COUNT(*) FROM orders a, orders b, orders c, orders d WHERE a.total + b.total = c.total + d.id"
    )
    with pytest.raises(StatementSlowError):
        shop.run(shop.check(crossed), Limits(seconds=0.2))


@pytest.mark.parametrize(
    "condition", ["LIKE '" + "%a" * 40 + "b'", "LIKE '" + "%a_a" * 30 + "b'", "GLOB '" + "*a" * 40 + "b'"]
)
def test_a_pattern_that_could_be_tried_in_many_ways_is_tried_in_one(condition, shop):
    """Nothing can interrupt a function: one that goes back and forth would hold up the whole server."""
    result = shop.run(shop.check(f"SELECT COUNT(*) FROM orders WHERE '{'a' * 5000}' {condition}"))
    assert result.rows == ((0,),)


def test_a_pattern_is_refused_that_a_huge_text_would_be_compared_with(shop):
    grown = "REPLACE(REPLACE(REPLACE('aaaaaaaaaaaaaaaa', 'a', '{0}'), 'b', '{1}'), 'c', '{0}')".format(
        "b" * 16, "c" * 16
    )
    guarded = shop.check(f"SELECT COUNT(*) FROM carriers WHERE {grown} LIKE '{'%_' * 1000}x'")
    with pytest.raises(StatementFailedError):
        shop.run(guarded)


def test_large_cells_are_not_all_fetched(shop):
    grown = (
        "REPLACE(REPLACE(REPLACE(REPLACE('{0}', 'a', '{1}'), 'b', '{0}'), 'a', '{1}'), 'b', '{0}')".format(
            "a" * 20, "b" * 20
        )
    )
    result = shop.run(shop.check(f"SELECT {grown} AS a FROM orders"))
    assert len(result.rows) == 1
    assert result.truncated


def test_a_product_of_tables_fills_no_memory(shop, monkeypatch):
    monkeypatch.setattr("pipeline.sql.connect._MAX_HEAP", 20_000_000)
    guarded = shop.check(
        "SELECT a.id, ROW_NUMBER() OVER (ORDER BY b.total) AS n FROM orders a, orders b, orders c"
    )
    try:
        with pytest.raises(StatementFailedError) as caught:
            shop.run(guarded, Limits(seconds=30))
    finally:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("PRAGMA hard_heap_limit = 268435456")
    assert not isinstance(caught.value, StatementSlowError)


def test_rows_end_at_their_limit(shop):
    result = run_statement(shop.access, "SELECT id FROM orders", Limits(rows=7))
    assert (len(result.rows), result.truncated) == (7, True)
    assert not run_statement(shop.access, "SELECT id FROM carriers", Limits(rows=5)).truncated
