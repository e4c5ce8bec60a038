"""The catalog of a SQLite file: kinds, stored values, links, what is hidden; and the reading itself."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.databases import DatabaseSource
from pipeline.errors import (
    DatabaseUnknownError,
    DatabaseUnusableError,
    StatementFailedError,
    StatementRefusedError,
)
from pipeline.settings import SqlSettings
from pipeline.sql.connect import access_to, connect_sqlite
from pipeline.sql.database import Database, find_database, open_databases
from pipeline.sql.reflect import reflect
from pipeline.sql.runner import Limits, run_statement

SCRIPT = """
CREATE TABLE Отделы (id INTEGER PRIMARY KEY, Название TEXT);
CREATE TABLE people (
    id INTEGER PRIMARY KEY, отдел INTEGER REFERENCES Отделы (id), name TEXT, hired TEXT,
    salary NUMERIC(10, 2), active BOOLEAN, bio TEXT, code BLOB, password TEXT
);
CREATE VIEW rich AS SELECT name FROM people WHERE salary > 100;
INSERT INTO Отделы VALUES (1, 'Отдел продаж'), (2, 'Склад');
"""


def source(**changes: object) -> DatabaseSource:
    entry = {
        "name": "firm",
        "file": "firm.sqlite",
        "table": [
            {"table": "Отделы", "columns": {"Название": {"note": "имя отдела"}}},
            {"table": "people", "hidden": ["PASSWORD"], "synonyms": ["люди"]},
        ],
        "example": [{"question": "Сколько?", "sql": "SELECT COUNT(*) FROM people"}],
    }
    return DatabaseSource.model_validate({**entry, **changes})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "firm.sqlite")) as connection, connection:
        connection.executescript(SCRIPT)
        rows = [
            (
                n,
                n % 2 + 1,
                f"Сотрудник {n}",
                f"2024-01-{n % 28 + 1:02}",
                n * 1.5,
                n % 2,
                "Длинный рассказ. " * 20,
                b"x",
                "p",
            )
            for n in range(300)
        ]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    return tmp_path


def opened(folder: Path, **changes: object) -> Database:
    return open_databases([source(**changes)], folder, SqlSettings(rows=5))["firm"]


def test_kinds_values_links_and_notes(folder):
    catalog = opened(folder).catalog()
    people = catalog.tables["people"]
    assert {column.name: column.kind for column in people.columns} == {
        "id": "id", "отдел": "id", "name": "other", "hired": "date", "salary": "number", "active": "flag",
        "bio": "text", "code": "other",
    }  # fmt: skip
    assert (people.key, people.rows, people.synonyms) == ("id", 300, ("люди",))
    assert [(link.column, link.table, link.target) for link in people.foreign] == [("отдел", "Отделы", "id")]
    name = catalog.tables["Отделы"].column("название")
    assert name is not None
    assert (name.kind, name.values, name.note) == ("category", ("Отдел продаж", "Склад"), "имя отдела")
    assert catalog.examples == (("Сколько?", "SELECT COUNT(*) FROM people"),)


def test_the_fingerprint_follows_stored_values_and_the_catalog_the_file(folder):
    database = opened(folder)
    before = database.catalog()
    assert database.catalog() is before
    assert opened(folder).catalog().fingerprint == before.fingerprint
    with closing(sqlite3.connect(folder / "firm.sqlite")) as connection, connection:
        connection.execute("INSERT INTO Отделы VALUES (3, 'Архив')")
    assert database.catalog().fingerprint != before.fingerprint


@pytest.mark.parametrize(
    "table",
    [
        {"table": "nosuch"},
        {"table": "people", "hidden": ["pasword"]},
        {"table": "people", "id": "key"},
        {"table": "people", "columns": {"age": {"note": "возраст"}}},
    ],
)
def test_a_name_that_is_not_there_is_an_error(folder, table):
    """A hidden column that is misspelt would be seen."""
    with pytest.raises(DatabaseUnusableError) as caught:
        opened(folder, table=[table]).catalog()
    name = "nosuch" if table["table"] == "nosuch" else "people."
    assert all(name in caught.value.message(language) for language in ("ru", "en"))


def test_what_is_hidden_or_not_declared_is_not_there(folder):
    database = opened(folder)
    for statement in ("SELECT password FROM people", "SELECT * FROM rich"):
        with pytest.raises(StatementRefusedError):
            database.check(statement)
    assert "password" not in database.check("SELECT * FROM people").sql


def test_results_are_cut_and_fit_into_json(folder):
    database = opened(folder)
    result = database.run(database.check("SELECT name, salary, code, active FROM people ORDER BY id"))
    assert (len(result.rows), result.truncated) == (5, True)
    assert result.rows[1] == ("Сотрудник 1", 1.5, "x", 1)
    assert result.kinds == ("category", "number", "category", "number")


def test_letters_of_all_alphabets_have_their_case(folder):
    database = opened(folder)
    for condition in (
        "Название LIKE '%ПРОДАЖ%'", "LOWER(Название) = 'отдел продаж'", "Название LIKE 'о_дел%'",
        r"Название LIKE 'отдел\_продаж' ESCAPE '\' OR UPPER(Название) = 'ОТДЕЛ ПРОДАЖ'",
    ):  # fmt: skip
        rows = database.run(database.check(f"SELECT id FROM Отделы WHERE {condition}")).rows
        assert rows == ((1,),), condition


def test_a_statement_that_fails_says_why_in_the_databases_words(folder):
    with pytest.raises(StatementFailedError) as caught:
        run_statement(opened(folder).access, "SELECT nosuch FROM people", Limits())
    assert "nosuch" in str(caught.value)


def test_a_base_with_a_write_ahead_log_is_read_and_nothing_is_made_beside_it(folder):
    path = folder / "firm.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO Отделы VALUES (3, 'Архив')")
        connection.commit()
        with closing(connect_sqlite(opened(folder).access)) as reading:
            assert reading.execute("SELECT COUNT(*) FROM Отделы").fetchone() == (3,)
    for left in folder.glob("firm.sqlite-*"):
        left.unlink()
    with closing(connect_sqlite(opened(folder).access)) as reading:
        assert reading.execute("SELECT COUNT(*) FROM Отделы").fetchone() == (3,)
    assert [item.name for item in folder.iterdir()] == ["firm.sqlite"]


@pytest.mark.parametrize("made", ["missing", "text", "folder"])
def test_what_is_no_database_is_an_error(tmp_path, made):
    path = tmp_path / "firm.sqlite"
    if made == "text":
        path.write_text("not a database")
    elif made == "folder":
        path.mkdir()
    with pytest.raises(DatabaseUnusableError) as caught:
        opened(tmp_path).catalog()
    if made == "text":
        assert "не база SQLite" in caught.value.message("ru")
        assert "no SQLite database" in caught.value.message("en")


def test_a_link_is_not_followed(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    try:
        (other / "firm.sqlite").symlink_to(folder / "firm.sqlite")
    except OSError:
        pytest.skip("this system makes no links")
    with pytest.raises(DatabaseUnusableError, match="links are not followed") as caught:
        opened(other)
    assert "по ссылкам Otvet не ходит" in caught.value.message("ru")


def test_urls_lead_to_files_and_servers(tmp_path):
    def place(url: str) -> tuple[str, str]:
        access = access_to(source(file="", url=url), tmp_path)
        return access.dialect, access.place

    assert place("sqlite:////srv/a.db") == ("sqlite", "/srv/a.db")
    assert place("postgresql+psycopg://u@h/b") == ("postgres", "postgresql://u@h/b")
    with pytest.raises(DatabaseUnusableError, match="mysql"):
        place("mysql+pymysql://u@h/b")


@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.text(max_size=30).filter(lambda text: "\x00" not in text))
def test_a_quoted_value_comes_back_as_it_was(folder, text):
    database = opened(folder)
    quoted = text.replace("'", "''")
    try:
        guarded = database.check(f"SELECT '{quoted}' AS v")
    except StatementRefusedError:
        return  # a lone surrogate is no text
    assert database.run(guarded).rows == ((text,),)


def test_databases_are_found_by_name(folder):
    databases = {"firm": opened(folder)}
    assert find_database(databases) is databases["firm"]
    assert find_database(databases, "firm") is databases["firm"]
    with pytest.raises(DatabaseUnknownError, match="firm"):
        find_database(databases, "other")
    with pytest.raises(DatabaseUnknownError):
        find_database({})


def test_sqlite_itself_reads_only_what_is_declared(folder):
    """Were the guard to be mistaken about a name."""
    database = opened(folder)
    readable = {"people": {"id", "name"}, "rich": {"name"}}
    for statement in ("SELECT password FROM people", "SELECT id FROM Отделы", "SELECT * FROM sqlite_master"):
        with pytest.raises(StatementFailedError, match=r"prohibited|not authorized"):
            run_statement(database.access, statement, Limits(), readable)
    for statement in ("SELECT name FROM people", "SELECT COUNT(*) FROM PEOPLE", "SELECT name FROM rich"):
        assert run_statement(database.access, statement, Limits(rows=1), readable).rows


def test_a_view_can_be_asked_about(folder):
    database = opened(folder, table=[{"table": "rich"}])
    result = database.run(database.check("SELECT COUNT(*) FROM rich"))
    assert result.rows == ((233,),)


def test_a_named_query_has_the_rights_of_its_statement(folder):
    """SQLite tells its authorizer the name of a WITH where it tells that of a view."""
    database = opened(folder, table=[{"table": "people", "hidden": ["password"]}, {"table": "rich"}])
    named = "WITH p AS (SELECT * FROM people), q AS (SELECT COUNT(*) AS n FROM p) SELECT n FROM q"
    assert (
        database.run(database.check(named)).rows
        == database.run(database.check("SELECT COUNT(*) FROM people")).rows
    )
    readable = {"people": ["id", "name"], "rich": ["name"]}
    for name in ("p", "people"):
        statement = f"WITH {name} AS (SELECT password FROM main.people) SELECT * FROM {name}"
        with pytest.raises(StatementFailedError, match="prohibited"):
            run_statement(database.access, statement, Limits(), readable)


def test_looking_at_values_ends_in_time(folder):
    catalog = reflect(source(), opened(folder).access, seconds=0.0)
    assert catalog.tables["people"].rows == 0
    assert catalog.tables["people"].column("name") is not None


def test_a_result_of_long_texts_is_cut(folder, monkeypatch):
    monkeypatch.setattr("pipeline.sql.runner._MAX_CHARACTERS", 1000)
    result = run_statement(opened(folder).access, "SELECT bio FROM people", Limits(rows=50))
    assert (len(result.rows), result.truncated) == (2, True)


STATEMENTS = st.tuples(
    st.sampled_from(
        ["name", "p.salary", "COUNT(*)", "p.*", "*", "MAX(hired)", "Название", "password", "x.id"]
    ),
    st.sampled_from(
        [
            "people p",
            "people AS p JOIN Отделы o ON o.id = p.отдел",
            "(SELECT * FROM people) p",
            "people p, Отделы x",
        ]
    ),
    st.sampled_from(
        ["", " WHERE password = 'p'", " WHERE salary > 1", " WHERE отдел IN (SELECT id FROM Отделы)"]
    ),
    st.sampled_from(
        ["", " ORDER BY password", " ORDER BY 1", " GROUP BY name", " UNION SELECT password FROM people"]
    ),
).map(lambda parts: f"SELECT {parts[0]} FROM {parts[1]}{parts[2]}{parts[3]}")


@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture], max_examples=80)
@given(STATEMENTS)
def test_what_the_guard_says_is_read_is_what_sqlite_reads(folder, statement):
    """SQLite tells its authorizer every column; none may be missing from the guard's list, or hidden."""
    database = opened(folder)
    try:
        guarded = database.check(statement)
    except StatementRefusedError:
        return
    read: set[tuple[str, str]] = set()

    def note(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_READ and first and second:
            read.add((first.lower(), second.lower()))
        return sqlite3.SQLITE_OK

    with closing(connect_sqlite(database.access)) as connection:
        connection.set_authorizer(note)
        with suppress(sqlite3.Error):
            connection.execute(guarded.sql).fetchmany(3)
    assert read <= {(table.lower(), column.lower()) for table, column in guarded.columns}
    assert ("people", "password") not in read
