"""Databases asked over a copy: what the copy holds, when it is refused, and what a failed fetch leaves."""

from __future__ import annotations

import datetime as dt
import hashlib
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import mssql, mysql, oracle, postgresql

from pipeline.databases import DatabaseSource
from pipeline.errors import DatabaseUnusableError, SettingsError
from pipeline.ingest.collect import collect
from pipeline.ingest.sources.copied_values import plain_value, sqlite_type
from pipeline.ingest.sources.declared import load_sources
from pipeline.ingest.sources.fetch import fetch_sources
from pipeline.settings import SqlSettings
from pipeline.sql.database import Database, open_databases

DECLARED = """
[[database]]
name = "shop"
url = "{url}"
{more}
note = "Магазин"

[[database.table]]
table = "goods"
id = "id"
title = "name"
text = "about"
hidden = ["cost"]
columns.cost = {{ note = "закупка" }}
columns.price = {{ note = "цена, руб." }}

[[database.table]]
table = "sales"
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "away" / "shop.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE goods (id INTEGER PRIMARY KEY, name VARCHAR(20), price NUMERIC(10, 2), "
            "cost TEXT, sold BOOLEAN, since DATE, photo BLOB, about TEXT)"
        )
        connection.execute("CREATE TABLE secret (id INTEGER PRIMARY KEY)")
        connection.execute(
            "CREATE TABLE sales (good INTEGER REFERENCES goods (id), line INTEGER, of INTEGER REFERENCES "
            "secret (id), PRIMARY KEY (good, line))"
        )
        rows = [
            (1, "Чайник", 1990.5, "purchase-900", 1, "2024-01-31", b"\x89PNG-photo", "Чайник кипятит воду."),
            (2, "Утюг", 2500, "purchase-700", 0, None, None, "Утюг гладит бельё."),
        ]
        connection.executemany("INSERT INTO goods VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.executemany("INSERT INTO sales VALUES (?, ?, NULL)", [(1, 1), (1, 2), (2, 1)])
    return path


@pytest.fixture
def base(tmp_path: Path, source: Path) -> Path:
    return declared(tmp_path, f"sqlite+pysqlite:///{source.as_posix()}")


def declared(folder: Path, url: str, more: str = "copy = true", text: str = DECLARED) -> Path:
    knowledge_base = folder / "kb"
    knowledge_base.mkdir(exist_ok=True)
    (knowledge_base / "sources.toml").write_text(text.format(url=url, more=more), "utf-8")
    return knowledge_base


def shop(base: Path) -> Database:
    return open_databases(load_sources(base).database, base, SqlSettings())["shop"]


def test_questions_are_computed_over_the_copy(base, source):
    before = hashlib.sha256(source.read_bytes()).hexdigest()
    assert fetch_sources(base).changed == ["fetched/shop.sqlite"]
    database = shop(base)
    catalog = database.catalog()
    goods, sales = catalog.tables.values()
    assert (catalog.name, catalog.dialect, catalog.note) == ("shop", "sqlite", "Магазин")
    assert [(column.name, column.type, column.kind) for column in goods.columns] == [
        ("id", "INTEGER", "id"), ("name", "TEXT", "category"), ("price", "NUMERIC(10, 2)", "number"),
        ("sold", "BOOLEAN", "flag"), ("since", "DATE", "date"), ("about", "TEXT", "text"),
    ]  # fmt: skip
    assert (goods.key, goods.columns[2].note) == ("id", "цена, руб.")
    assert [(link.column, link.table, link.target) for link in sales.foreign] == [("good", "goods", "id")]
    found = database.run(
        database.check("SELECT g.name, g.price, g.since, COUNT(*) FROM goods g JOIN sales s ON s.good = g.id "
                       "WHERE g.sold GROUP BY g.id")
    )  # fmt: skip
    assert found.rows == (("Чайник", 1990.5, "2024-01-31", 2),)
    assert hashlib.sha256(source.read_bytes()).hexdigest() == before
    assert [path.name for path in source.parent.iterdir()] == ["shop.db"]


def test_the_copy_has_the_keys_and_nothing_that_is_hidden(base):
    fetch_sources(base)
    path = base / "fetched" / "shop.sqlite"
    data = path.read_bytes()
    assert not [word for word in (b"purchase", b"cost", b"PNG-photo", b"photo", b"secret") if word in data]
    with closing(sqlite3.connect(path)) as connection:
        keys = connection.execute(
            "SELECT name FROM pragma_table_info('sales') WHERE pk ORDER BY pk"
        ).fetchall()
    assert keys == [("good",), ("line",)]


def test_an_unchanged_source_gives_an_unchanged_copy_of_today(base):
    fetch_sources(base)
    database = shop(base)
    assert database.copied_on == dt.datetime.now().astimezone().date().isoformat()
    assert fetch_sources(base).unchanged == ["fetched/shop.sqlite"]
    assert fetch_sources(base).failed == {}


def test_its_texts_are_indexed_from_the_same_file(base):
    fetch_sources(base)
    documents = collect(base).documents
    assert [(item.file, item.metadata["row_id"]) for item in documents] == [
        ("fetched/shop.sqlite/goods/1", 1), ("fetched/shop.sqlite/goods/2", 2),
    ]  # fmt: skip
    assert all(item.file.startswith(shop(base).source.documents_of("goods")) for item in documents)


def test_without_a_copy_the_error_says_how_to_make_one(base):
    database = shop(base)
    with pytest.raises(DatabaseUnusableError, match="otvet index --fetch"):
        database.catalog()
    assert database.copied_on == ""


def test_a_column_hidden_after_the_copy_is_not_asked_about(base):
    fetch_sources(base)
    text = (base / "sources.toml").read_text("utf-8")
    (base / "sources.toml").write_text(
        text.replace('hidden = ["cost"]', 'hidden = ["cost", "price"]'), "utf-8"
    )
    with pytest.raises(DatabaseUnusableError, match="declaration has changed"):
        shop(base).catalog()
    fetch_sources(base)
    assert shop(base).catalog().tables["goods"].column("price") is None


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ('["cost"]', '["cots"]', "no column goods.cots"),
        ('table = "sales"', 'table = "sails"', "no table sails"),
        ("shop.db", "gone.db", "unable to open"),
    ],
)
def test_a_fetch_that_fails_leaves_the_old_copy(base, source, old, new, word):
    fetch_sources(base)
    kept = (base / "fetched" / "shop.sqlite").read_bytes()
    text = (base / "sources.toml").read_text("utf-8")
    (base / "sources.toml").write_text(text.replace(old, new), "utf-8")
    report = fetch_sources(base)
    assert word in report.failed["shop"].text("en")
    assert (base / "fetched" / "shop.sqlite").read_bytes() == kept
    assert not list((base / "fetched").glob(".shop*"))
    assert [path.name for path in source.parent.iterdir()] == ["shop.db"]
    (base / "sources.toml").write_text(text, "utf-8")
    assert shop(base).catalog().tables


def test_an_interrupted_fetch_leaves_the_old_copy(base, monkeypatch):
    fetch_sources(base)
    kept = (base / "fetched" / "shop.sqlite").read_bytes()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.ingest.sources.copied._fill", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch_sources(base)
    assert (base / "fetched" / "shop.sqlite").read_bytes() == kept
    assert not list((base / "fetched").glob(".shop*"))


def test_a_server_that_is_not_there_is_told_and_the_old_copy_stays(tmp_path):
    base = declared(tmp_path, "mysql+pymysql://reader:geheim@127.0.0.1:9/shop", more="")
    path = base / "fetched" / "shop.sqlite"
    path.parent.mkdir()
    path.write_bytes(b"an older copy")
    (phrase,) = fetch_sources(base).failed.values()
    assert phrase.key == "skip_database"
    assert "127.0.0.1" in phrase.text("en")
    assert "geheim" not in phrase.text("en")
    assert path.read_bytes() == b"an older copy"


def test_a_driver_that_is_missing_stops_no_other_source(base, monkeypatch):
    def missing(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("No module named 'pyodbc'", name="pyodbc")

    other = (base / "sources.toml").read_text("utf-8").replace('"shop"', '"other"')
    declared = other.replace("sqlite+pysqlite:///", "mssql+pyodbc:///") + (base / "sources.toml").read_text(
        "utf-8"
    )
    (base / "sources.toml").write_text(declared, "utf-8")
    real = sa.create_engine
    monkeypatch.setattr(
        sa, "create_engine", lambda url, **more: (missing if "mssql" in str(url) else real)(url, **more)
    )
    report = fetch_sources(base)
    assert report.changed == ["fetched/shop.sqlite"]
    assert "mssql+pyodbc needs the Python package pyodbc" in report.failed["other"].text("en")


def test_too_many_rows_are_refused(base, monkeypatch):
    monkeypatch.setattr("pipeline.ingest.sources.copied.MAX_ROWS", 2)
    (phrase,) = fetch_sources(base).failed.values()
    assert phrase.key == "skip_too_much_text"


@pytest.mark.parametrize(
    ("url", "more", "is_copied"),
    [
        ("mssql+pyodbc://u@h/b", {}, True),
        ("oracle+oracledb://u@h/b", {}, True),
        ("postgresql://u@h/b", {}, False),
        ("postgresql+psycopg://u@h/b", {"copy": True}, True),
        ("sqlite:///a.db", {}, False),
    ],
)
def test_what_is_asked_over_a_copy(url, more, is_copied):
    entry = {"name": "a", "url": url, "table": [{"table": "t"}], **more}
    found = DatabaseSource.model_validate(entry)
    assert found.is_copied is is_copied
    assert found.asked.file == ("fetched/a.sqlite" if is_copied else "")


def test_tables_of_schemas_lose_them_where_that_is_plain():
    names = ["hr.people", "shop.orders", "old.orders"]
    entry = {"name": "a", "url": "mssql://h/b", "table": [{"table": name} for name in names]}
    asked = DatabaseSource.model_validate(entry).asked
    assert [table.table for table in asked.table] == ["people", "shop_orders", "old_orders"]
    entry["table"].append({"table": "shop_orders"})
    with pytest.raises(ValueError, match="named twice in the copy"):
        DatabaseSource.model_validate(entry)


def test_a_file_is_not_copied():
    with pytest.raises(ValueError, match="a file is asked as it is"):
        DatabaseSource.model_validate({"name": "a", "file": "a.db", "copy": True, "table": [{"table": "t"}]})


def test_two_sources_of_one_copy_are_refused(tmp_path):
    more = DECLARED + '\n[[table]]\nname = "Shop"\ndatabase = "mysql://h/b"\ntable = "t"\ntext = "a"\n'
    base = declared(tmp_path, "mysql://h/b", text=more)
    with pytest.raises(SettingsError, match="named twice"):
        load_sources(base)


@pytest.mark.parametrize(
    ("type_", "word"),
    [
        (sa.SmallInteger(), "INTEGER"),
        (mysql.TINYINT(1), "INTEGER"),
        (mysql.YEAR(), "INTEGER"),
        (mysql.BIT(1), "BOOLEAN"),
        (mssql.BIT(), "BOOLEAN"),
        (mssql.DATETIMEOFFSET(), "DATETIME"),
        (mssql.VARBINARY(), ""),
        (oracle.NUMBER(10, 2), "NUMERIC(10, 2)"),
        (oracle.NUMBER(), "NUMERIC"),
        (oracle.BINARY_DOUBLE(), "REAL"),
        (oracle.CLOB(), "TEXT"),
        (postgresql.DOUBLE_PRECISION(), "REAL"),
        (postgresql.INTERVAL(), "REAL"),
        (postgresql.TIMESTAMP(), "DATETIME"),
        (postgresql.BYTEA(), ""),
        (postgresql.JSONB(), "TEXT"),
        (postgresql.UUID(), "TEXT"),
        (sa.types.NullType(), "TEXT"),
    ],
)
def test_types_become_those_of_sqlite(type_, word):
    assert sqlite_type(type_) == word


@pytest.mark.parametrize(
    ("value", "type_", "kept"),
    [
        (Decimal("12.00"), "NUMERIC", 12),
        (Decimal("12.30"), "NUMERIC", 12.3),
        (Decimal("1E+30"), "NUMERIC", 1e30),
        (Decimal("NaN"), "NUMERIC", None),
        (2**63, "INTEGER", float(2**63)),
        (True, "BOOLEAN", 1),
        (b"\x01", "BOOLEAN", 1),
        (b"\xd1\x91", "TEXT", "ё"),
        (dt.date(2024, 2, 29), "DATE", "2024-02-29"),
        (dt.datetime(2024, 2, 29), "DATE", "2024-02-29"),
        (dt.datetime(2024, 2, 29, 8, 5), "DATETIME", "2024-02-29 08:05:00"),
        (dt.datetime(2024, 2, 29, 8, tzinfo=dt.UTC), "DATETIME", "2024-02-29 08:00:00"),
        (dt.time(8, 5), "TIME", "08:05:00"),
        (dt.timedelta(hours=8, minutes=5), "TIME", "08:05:00"),
        (dt.timedelta(minutes=2), "REAL", 120.0),
        ({"а": [1]}, "TEXT", '{"а": [1]}'),
        (["x"], "TEXT", '["x"]'),
    ],
)
def test_values_are_as_sqlite_keeps_them(value, type_, kept):
    found = plain_value(value, type_)
    assert (found, type(found)) == (kept, type(kept))
