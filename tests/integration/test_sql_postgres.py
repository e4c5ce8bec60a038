"""Questions' databases on a real PostgreSQL: catalog, results, rights, hostile statements (case 36)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from hostile_sql import BOTH, CASE_36, POSTGRES
from postgres_server import Server

from pipeline.databases import DatabaseSource
from pipeline.errors import (
    DatabaseUnusableError,
    DatabaseWritableError,
    StatementCostlyError,
    StatementFailedError,
    StatementRefusedError,
    StatementSlowError,
    UnreadableFileError,
)
from pipeline.ingest.collect import collect
from pipeline.ingest.sources.declared import load_sources
from pipeline.ingest.sources.fetch import fetch_sources
from pipeline.ingest.sources.servers import reading
from pipeline.settings import SqlSettings
from pipeline.sql.database import Database, open_databases
from pipeline.sql.demo.make import demo_sources, demo_tables, make_demo
from pipeline.sql.demo.tables import fill_postgres
from pipeline.sql.runner import Limits, run_statement

STATEMENTS = [text.replace("{t}", "orders") for text in (*CASE_36, *BOTH, *POSTGRES)]
READER = "otvet_reader"
DATA = Path(__file__).parents[2] / "benchmarks" / "data"


@pytest.fixture(scope="module")
def owner_url(postgres_server: Server) -> Iterator[str]:
    """A base with the demo shop and articles, and a role that may only read."""
    with postgres_server.database() as url:
        with psycopg.connect(url) as connection:
            for tables in demo_tables().values():
                fill_postgres(tables, connection)
            connection.execute("CREATE TABLE secrets (a TEXT)")
            connection.execute("INSERT INTO secrets VALUES ('not declared')")
            connection.execute(f"DROP ROLE IF EXISTS {READER}".encode())
            connection.execute(f"CREATE ROLE {READER} LOGIN".encode())
            connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {READER}".encode())
        yield url
        with psycopg.connect(url) as connection:
            connection.execute(f"DROP OWNED BY {READER}".encode())
            connection.execute(f"DROP ROLE {READER}".encode())


def as_reader(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{READER}@{host}"))


def opened(url: str, tmp_path_factory: pytest.TempPathFactory, **changes: object) -> Database:
    (source,) = (item for item in demo_sources() if item.name == "shop")
    declared = source.model_copy(update={"file": "", "url": url, **changes})
    return open_databases([declared], tmp_path_factory.mktemp("kb"), SqlSettings())["shop"]


@pytest.fixture(scope="module")
def shop(owner_url: str, tmp_path_factory: pytest.TempPathFactory) -> Database:
    return opened(as_reader(owner_url), tmp_path_factory)


@pytest.fixture
def unchanged(owner_url: str) -> Iterator[None]:
    before = state(owner_url)
    yield
    assert state(owner_url) == before


def state(url: str) -> list[object]:
    """Checksums of all rows of all tables, and what else a statement might leave behind."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class "
            "WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v')"
        ).fetchall()
        names = sorted(name for (name,) in tables)
        sums = [
            connection.execute(
                f"SELECT md5(string_agg(x::text, '|' ORDER BY x::text)) FROM {name} AS x".encode()
            ).fetchone()
            for name in names
        ]
        more = connection.execute(
            "SELECT (SELECT count(*) FROM pg_roles), (SELECT count(*) FROM pg_proc), "
            "(SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_class), "
            "(SELECT string_agg(relacl::text, '' ORDER BY relname) FROM pg_class)"
        ).fetchone()
        return [names, sums, more]


def test_the_guard_refuses_every_hostile_statement(shop, unchanged):
    """Case 36."""
    assert [statement for statement in STATEMENTS if not is_refused(shop, statement)] == []


def is_refused(shop: Database, statement: str) -> bool:
    try:
        shop.check(statement)
    except StatementRefusedError:
        return True
    return False


def test_the_connection_alone_changes_nothing(shop, unchanged):
    """Case 36: were the guard to miss it."""
    for statement in STATEMENTS:
        with suppress(StatementFailedError):
            run_statement(shop.access, statement, Limits(rows=10, seconds=0.3, cost=0))


def test_even_a_superuser_changes_no_row(owner_url, tmp_path_factory, unchanged):
    """Case 36: were the user the owner of everything; what leaves the database is not held back then."""
    access = opened(owner_url, tmp_path_factory).access
    for statement in STATEMENTS:
        if any(word in statement for word in ("lo_export", "pg_reload", "/etc/passwd")):
            continue
        with suppress(StatementFailedError):
            run_statement(access, statement, Limits(rows=10, seconds=0.3, cost=0))


def test_a_user_who_may_write_is_refused_or_warned_of(owner_url, tmp_path_factory):
    with pytest.raises(DatabaseWritableError) as caught:
        opened(owner_url, tmp_path_factory).catalog()
    assert "superuser" in caught.value.message("en")
    warned = opened(owner_url, tmp_path_factory, writer="warn")
    assert warned.catalog().tables
    assert "superuser" in warned.may_change


def test_a_reader_may_change_nothing(shop):
    assert shop.catalog().tables
    assert shop.may_change == ()


def test_the_catalog_is_the_one_of_sqlite(shop, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sqlite")
    make_demo(folder)
    other = open_databases(load_sources(folder).database, folder, SqlSettings())["shop"].catalog()
    mine = shop.catalog()
    assert mine.dialect == "postgres"
    assert list(mine.tables) == list(other.tables)
    for name, table in mine.tables.items():
        twin = other.tables[name]
        assert (table.key, table.rows, set(table.foreign)) == (twin.key, twin.rows, set(twin.foreign))
        assert [(column.name, column.kind, column.values) for column in table.columns] == [
            (column.name, column.kind, column.values) for column in twin.columns
        ]


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("SELECT COUNT(*) FROM products WHERE price > 50000", ((22,),)),
        ("SELECT SUM(amount) FROM payments WHERE method = 'наличные'", ((7985594,),)),
        ("SELECT AVG(rating) FROM reviews WHERE EXTRACT(YEAR FROM written_on) = 2024", ((4,),)),
        (
            "SELECT DATE_TRUNC('month', ordered_on) AS m, COUNT(*) FROM orders "
            "WHERE ordered_on >= '2025-05-01' AND ordered_on < '2025-07-01' GROUP BY m ORDER BY m",
            (("2025-05-01", 22), ("2025-06-01", 22)),
        ),
        ("SELECT TO_CHAR(MIN(ordered_on), 'YYYY-MM') FROM orders", (("2023-01",),)),
        ("SELECT name FROM departments WHERE name LIKE '%продаж%'", (("Отдел продаж",),)),
        ("SELECT id, in_catalog FROM products WHERE id = 1", ((1, True),)),
    ],
)
def test_statements_give_their_rows(shop, statement, rows):
    assert shop.run(shop.check(statement)).rows == rows


def test_a_whole_table_is_its_allowed_columns(shop):
    assert "email" not in shop.check("TABLE customers").sql


def test_time_and_expected_cost_are_bounded(shop):
    crossed = (
        "SELECT COUNT(*) FROM order_items a, order_items b, order_items c WHERE a.price + b.price > c.price"
    )
    guarded = shop.check(crossed)
    with pytest.raises(StatementCostlyError) as caught:
        shop.run(guarded)
    assert caught.value.values["limit"] == 5_000_000
    with pytest.raises(StatementSlowError):
        shop.run(guarded, Limits(seconds=0.3, cost=0))


def test_large_cells_are_cut_where_they_are(shop):
    """The server may hold a gigabyte in a cell; this process takes as much as a result has room for."""
    grown = "STRING_AGG(a.status, ', ') AS b"
    result = shop.run(shop.check(f"SELECT 'x' AS a, {grown} FROM orders a, orders b"))
    assert (result.columns, result.truncated) == (("a", "b"), True)
    assert [len(value) for value in result.rows[0]] == [1, 1_000_000]
    grown = "REPLACE(REPLACE(REPLACE('{0}', 'a', '{1}'), 'b', '{0}'), 'a', '{1}')".format("a" * 30, "b" * 30)
    result = shop.run(shop.check(f"SELECT id, {grown} AS a FROM orders"))
    assert len(result.rows) == 2
    assert result.truncated


def test_the_time_of_a_statement_is_that_of_all_its_rows(shop, monkeypatch):
    """The server counts the time of each fetch for itself."""
    monkeypatch.setattr("pipeline.sql.runner._AT_ONCE", 1)
    with pytest.raises(StatementSlowError):
        run_statement(shop.access, "SELECT id, pg_sleep(0.2) FROM orders", Limits(seconds=1, cost=0))


def test_a_number_too_large_for_a_float_is_told_whole(shop):
    result = shop.run(shop.check("SELECT POWER(CAST(10 AS DECIMAL), 400) AS n"))
    assert result.rows == (("1" + "0" * 400,),)


def test_a_statement_the_database_cannot_run_is_told_in_its_words(shop):
    guarded = shop.check("SELECT name || 1 / (id - id) FROM carriers")
    with pytest.raises(StatementFailedError) as caught:
        shop.run(guarded)
    assert "division by zero" in str(caught.value)


def test_a_server_that_is_not_there_is_a_plain_error(tmp_path):
    source = DatabaseSource.model_validate(
        {"name": "gone", "url": "postgresql://nobody:secret@127.0.0.1:9/none", "table": [{"table": "t"}]}
    )
    database = open_databases([source], tmp_path, SqlSettings())["gone"]
    with pytest.raises(DatabaseUnusableError) as caught:
        database.catalog()
    assert "secret" not in str(caught.value)


def test_texts_of_a_server_are_fetched_and_indexed_row_by_row(owner_url, tmp_path):
    url = as_reader(owner_url).replace("postgresql://", "postgresql+psycopg://")
    (tmp_path / "sources.toml").write_text(
        f'[[database]]\nname = "kb"\nurl = "{url}"\n[[database.table]]\ntable = "articles"\nid = "id"\n'
        'title = "title"\ntext = "body"\nmetadata = ["category", "published_on"]\n',
        "utf-8",
    )
    assert fetch_sources(tmp_path).changed == ["fetched/kb_articles.sqlite"]
    assert fetch_sources(tmp_path).unchanged == ["fetched/kb_articles.sqlite"]
    documents = collect(tmp_path).documents
    assert len(documents) == 400
    assert documents[270].metadata["row_id"] == 271
    assert documents[270].metadata["table"] == "articles"
    assert documents[270].title == "Музей театральных биноклей в Светлограде"
    (source,) = load_sources(tmp_path).database
    assert documents[270].file == f"{source.documents_of('articles')}271"


@pytest.mark.parametrize(
    "text", ["\\", "\\'; DROP TABLE orders; --", "it's", "a\nb", "$$", "Ёлка 🎄", "%s", "E'\\n'", "?"]
)
def test_a_quoted_value_comes_back_as_it_was(shop, unchanged, text):
    quoted = text.replace("'", "''")
    guarded = shop.check(f"SELECT '{quoted}' AS v, COUNT(*) FROM orders WHERE status <> '{quoted}'")
    assert shop.run(guarded).rows == ((text, 660),)


def test_gold_statements_give_the_same_answers_as_on_sqlite(owner_url, tmp_path):
    declared = [
        source.model_copy(update={"file": "", "url": as_reader(owner_url)}) for source in demo_sources()
    ]
    gives_gold_answers(open_databases(declared, tmp_path, SqlSettings()))


@pytest.fixture(scope="module")
def copied(owner_url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo declared over the server with ``copy = true``, and fetched."""
    folder = tmp_path_factory.mktemp("copied")
    declared = resources.files("pipeline.sql.demo").joinpath("sources.toml").read_text("utf-8")
    for name in ("shop", "articles"):
        place = f'url = "{as_reader(owner_url)}"\ncopy = true'
        declared = declared.replace(f'file = "{name}.sqlite"', place)
    (folder / "sources.toml").write_text(declared, "utf-8")
    before = state(owner_url)
    assert fetch_sources(folder).changed == ["fetched/shop.sqlite", "fetched/articles.sqlite"]
    assert state(owner_url) == before
    return folder


def test_the_catalog_of_a_copy_is_the_one_of_sqlite(copied, tmp_path):
    make_demo(tmp_path)
    mine = open_databases(load_sources(copied).database, copied, SqlSettings())["shop"].catalog()
    other = open_databases(load_sources(tmp_path).database, tmp_path, SqlSettings())["shop"].catalog()
    assert (mine.dialect, list(mine.tables), mine.note) == ("sqlite", list(other.tables), other.note)
    for name, table in mine.tables.items():
        twin = other.tables[name]
        assert (table.key, table.rows, set(table.foreign)) == (twin.key, twin.rows, set(twin.foreign))
        assert table.columns == twin.columns


def test_hidden_columns_never_reach_the_copy(owner_url, copied):
    data = (copied / "fetched" / "shop.sqlite").read_bytes()
    with psycopg.connect(owner_url) as connection:
        rows = connection.execute("SELECT email, phone FROM customers").fetchall()
    assert len(rows) > 100
    assert not [value for row in rows for value in row if value.encode() in data]
    assert not [name for name in (b"email", b"purchase_price", b"not declared") if name in data]


def test_gold_statements_give_the_same_answers_over_a_copy(copied):
    gives_gold_answers(open_databases(load_sources(copied).database, copied, SqlSettings()))


def test_a_copy_is_the_same_when_the_source_is(owner_url, copied):
    report = fetch_sources(copied)
    assert (len(report.unchanged), report.changed, report.failed) == (2, [], {})


def test_types_of_postgres_in_a_copy(owner_url, tmp_path):
    with psycopg.connect(owner_url) as connection:
        connection.execute("CREATE SCHEMA odd")
        connection.execute(
            "CREATE TABLE odd.kinds (id UUID PRIMARY KEY, at TIMESTAMP, price NUMERIC(30, 2), ratio FLOAT8, "
            "live BOOLEAN, tags TEXT[], info JSONB, raw BYTEA, long INTERVAL, UNIQUE (at, price))"
        )
        connection.execute(
            "CREATE TABLE odd.parts (at TIMESTAMP, price NUMERIC(30, 2), "
            "FOREIGN KEY (at, price) REFERENCES odd.kinds (at, price))"
        )
        connection.execute(
            "INSERT INTO odd.kinds VALUES ('00000000-0000-0000-0000-000000000001', '2024-02-29 08:05', "
            "12.50, 0.5, true, '{а,б}', '{\"k\": 1}', '\\x00ff', '2 minutes')"
        )
    (tmp_path / "sources.toml").write_text(
        f'[[database]]\nname = "odd"\nurl = "{owner_url}"\ncopy = true\n'
        '[[database.table]]\ntable = "odd.kinds"\n[[database.table]]\ntable = "odd.parts"\n',
        "utf-8",
    )
    try:
        assert fetch_sources(tmp_path).changed == ["fetched/odd.sqlite"]
    finally:
        with psycopg.connect(owner_url) as connection:
            connection.execute("DROP SCHEMA odd CASCADE")
    database = open_databases(load_sources(tmp_path).database, tmp_path, SqlSettings())["odd"]
    assert database.run(database.check("SELECT * FROM kinds")).rows == (
        ("00000000-0000-0000-0000-000000000001", "2024-02-29 08:05:00", 12.5, 0.5, 1, '["а", "б"]',
         '{"k": 1}', 120),
    )  # fmt: skip
    with closing(sqlite3.connect(tmp_path / "fetched" / "odd.sqlite")) as connection:
        links = connection.execute('SELECT "from", "table", "to" FROM pragma_foreign_key_list(\'parts\')')
        assert links.fetchall() == [("at", "kinds", "at"), ("price", "kinds", "price")]


def test_the_server_lets_a_fetch_write_nothing(owner_url):
    with (
        pytest.raises(UnreadableFileError, match="read-only"),
        reading(owner_url, "shop") as connection,
    ):
        connection.exec_driver_sql("CREATE TABLE written (a TEXT)")


def gives_gold_answers(databases: dict[str, Database]) -> None:
    for path in sorted(DATA.glob("sql_questions*.jsonl")):
        for question in map(json.loads, path.read_text("utf-8").splitlines()):
            if question["kind"] != "compute":
                continue
            database = databases[question["database"]]
            found = [list(row) for row in database.run(database.check(question["sql"])).rows]
            assert sorted(map(rounded, found)) == sorted(map(rounded, question["answer"])), question[
                "question"
            ]


def rounded(row: list[object]) -> list[object]:
    return [round(value, 6) if isinstance(value, float) else value for value in row]
