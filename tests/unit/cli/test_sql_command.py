"""``otvet sql``: what it prints, refuses and writes; what ``otvet doctor`` says of databases."""

import datetime as dt
import json
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner

from pipeline import bootstrap
from pipeline.cli.main import main
from pipeline.cli.sql import sql
from pipeline.errors import DatabaseUnknownError, StatementRefusedError
from pipeline.health.databases import check_databases
from pipeline.health.finding import Say
from pipeline.settings import load_settings


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    result = CliRunner().invoke(sql, ["demo", str(folder)], catch_exceptions=False)
    assert result.exit_code == 0
    assert "otvet --home" in result.output
    return folder


@pytest.fixture
def home(made, monkeypatch):
    monkeypatch.setenv("OTVET_HOME", str(made))
    monkeypatch.setenv("OTVET_LANGUAGE", "ru")
    return made


def otvet(*arguments):
    result = CliRunner().invoke(sql, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_tables_are_listed_with_their_columns(home):
    output = otvet("tables", "shop")
    assert "orders: строк 660" in output
    assert "customer_id -> customers.id" in output
    assert "email" not in output
    found = json.loads(otvet("tables", "--json"))
    assert [item["name"] for item in found] == ["shop", "articles"]


def test_a_statement_is_explained_run_and_told(home, tmp_path):
    statement = "SELECT city, COUNT(*) AS n FROM customers GROUP BY city ORDER BY n DESC LIMIT 2"
    output = otvet("run", statement, "--database", "shop", "--csv", str(tmp_path / "a.csv"))
    assert "Считаю: количество строк «покупатели»" in output
    assert "Казань     46" in output
    assert "Первые: Казань (46); Краснодар (42)." in output  # more cities than LIMIT lets through
    assert (tmp_path / "a.csv").read_text("utf-8-sig").splitlines()[1] == "Казань;46"
    found = json.loads(otvet("run", statement, "--database", "shop", "--json"))
    assert found["rows"] == [["Казань", 46], ["Краснодар", 42]]


def test_highest_and_lowest_are_told_of_all_rows_only(home):
    statement = "SELECT city, COUNT(*) AS n FROM customers GROUP BY city ORDER BY n DESC"
    output = otvet("run", statement, "--database", "shop")
    assert "больше всего у «Казань» (46), меньше всего у «Самара» (19)" in output


def test_which_of_several_databases_has_to_be_said(home):
    result = CliRunner().invoke(sql, ["run", "SELECT 1"])
    assert result.exit_code == 2
    assert "--database" in result.output
    assert "articles, shop" in result.output


def test_what_may_not_run_is_refused(home):
    with pytest.raises(StatementRefusedError):
        otvet("run", "DELETE FROM orders", "--database", "shop")
    with pytest.raises(DatabaseUnknownError):
        otvet("run", "SELECT 1", "--database", "nosuch")
    with pytest.raises(SystemExit) as caught:
        main(["sql", "run", "DROP TABLE orders", "--database", "shop"])
    assert caught.value.code == 7


def test_without_databases_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    monkeypatch.setenv("OTVET_LANGUAGE", "en")
    assert "no [[database]] section" in otvet("tables")


def test_a_declaration_of_ones_own_is_not_overwritten(tmp_path):
    base = tmp_path / "knowledge_base"
    base.mkdir()
    (base / "sources.toml").write_text('[[url]]\nurl = "https://example.org"\n', "utf-8")
    with pytest.raises(SystemExit) as caught:
        main(["sql", "demo", str(tmp_path)])
    assert caught.value.code == 1
    assert [path.name for path in base.iterdir()] == ["sources.toml"]


def test_the_doctor_opens_every_database_and_tries_its_examples(home):
    settings = load_settings({"home": home}, environ={}).settings

    def findings():
        return check_databases(bootstrap.create_databases(settings).values(), Say("en"))

    assert [(item.state, item.detail) for item in findings()] == [
        ("ok", "opens for reading only; tables: 22, rows: 5000"),
        ("ok", "opens for reading only; tables: 2, rows: 416"),
    ]
    path = home / "knowledge_base" / "sources.toml"
    declared = path.read_text("utf-8")
    try:
        path.write_text(declared.replace("WHERE price > 10000", "WHERE prise > 10000"), "utf-8")
        assert (findings()[0].state, len(findings()[0].items)) == ("warning", 1)
        path.write_text(
            declared.replace('hidden = ["purchase_price"]', 'hidden = ["purchaseprice"]'), "utf-8"
        )
        assert findings()[0].state == "problem"
    finally:
        path.write_text(declared, "utf-8")


def test_a_copy_is_told_with_its_day(tmp_path, monkeypatch):
    source = tmp_path / "away.sqlite"
    with closing(sqlite3.connect(source)) as connection, connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY)")
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    monkeypatch.setenv("OTVET_LANGUAGE", "en")
    settings = load_settings().settings
    settings.knowledge_base.mkdir(exist_ok=True)
    (settings.knowledge_base / "sources.toml").write_text(
        f'[[database]]\nname = "firm"\nurl = "sqlite:///{source.as_posix()}"\ncopy = true\n'
        '[[database.table]]\ntable = "people"\n',
        "utf-8",
    )
    (missing,) = check_databases(bootstrap.create_databases(settings).values(), Say("en"))
    assert (missing.state, "otvet index --fetch" in missing.detail) == ("problem", True)
    bootstrap.fetch(settings)
    day = dt.datetime.now().astimezone().date().isoformat()
    assert f"A copy of {day}" in otvet("tables")
    assert json.loads(otvet("tables", "--json"))[0]["copied_on"] == day
    (found,) = check_databases(bootstrap.create_databases(settings).values(), Say("en"))
    assert (found.state, f"a copy of {day}" in found.detail) == ("ok", True)
