"""``otvet ask`` over databases: the statement and the rows are shown, and what waits runs after a yes."""

from dataclasses import replace

import pytest
from click.testing import CliRunner

from pipeline import bootstrap
from pipeline.cli.ask import ask
from pipeline.types import (
    Answer,
    Clarification,
    Confirmation,
    Finished,
    Option,
    Reply,
    Routed,
    TableView,
    Token,
)

STATEMENT = "SELECT city, COUNT(*) AS n FROM customers GROUP BY city LIMIT 1001"
WAITING = Routed("sql", database="shop", sql=STATEMENT, confirm=Confirmation("ab" * 16, "Считаю.", 900))
TABLE = TableView(
    ("city", "n"), ("category", "number"), (("Казань", 46), ("Самара", 19)), labels=("город", "n")
)
DONE = Routed("sql", database="shop", sql=STATEMENT, table=TABLE)


class Fake:
    """Answers with ``first``, and with rows once the statement is confirmed."""

    def __init__(self, first: Routed) -> None:
        self.first = first
        self.requests = []

    def start(self, **_: object) -> None:
        pass

    def close(self) -> None:
        pass

    def stream(self, request, cancelled):
        self.requests.append(request)
        routed, told = (DONE, "Найдено строк: 2.") if request.confirmed else (self.first, "Считаю.")
        yield Finished(Reply("?", (), Answer(told, "answered"), (), {}, "m", "", "", routed=routed))


@pytest.fixture
def asked(monkeypatch, tmp_path):
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    monkeypatch.setenv("OTVET_LANGUAGE", "ru")

    def run(first: Routed, said: str = "", *options: str):
        fake = Fake(first)
        monkeypatch.setattr(bootstrap, "create_service", lambda _settings: fake)
        result = CliRunner().invoke(ask, [*options, "Сколько?"], input=said, catch_exceptions=False)
        assert result.exit_code == 0
        return fake.requests, result.output

    return run


def test_rows_and_statement_are_shown(asked):
    _, output = asked(DONE)
    assert "Казань  46" in output
    assert f"Запрос к базе shop: {STATEMENT}" in output


def test_many_rows_are_cut_and_counted(asked):
    _, output = asked(replace(DONE, table=replace(TABLE, rows=(("Казань", 46),) * 25)))
    assert output.count("Казань") == 20
    assert "ещё строк: 5" in output


@pytest.mark.parametrize("said", ["да\n", "Y\n"])
def test_a_yes_runs_the_statement_that_waits(asked, said):
    requests, output = asked(WAITING, said)
    assert [request.confirmed for request in requests] == ["", "ab" * 16]
    assert "Самара  19" in output


@pytest.mark.parametrize("said", ["", "\n", "нет\n"])
def test_anything_else_runs_nothing(asked, said):
    requests, output = asked(WAITING, said)
    assert len(requests) == 1
    assert "Самара" not in output


def test_ways_on_are_shown_as_commands(asked):
    options = (Option("посчитать", "Сколько?", "sql"), Option("в Перми", "Сколько в Перми?"))
    _, output = asked(Routed("clarify", clarify=Clarification("Что именно?", options)))
    assert 'посчитать: otvet ask --route sql "Сколько?"' in output
    assert 'в Перми: otvet ask "Сколько в Перми?"' in output


def test_the_route_may_be_chosen(asked):
    requests, _ = asked(DONE, "", "--route", "hybrid")
    assert requests[0].route == "hybrid"


def test_a_draft_ends_before_the_checked_answer(asked, monkeypatch):
    def stream(_self, request, cancelled):
        yield Token("Черновик")
        yield Finished(Reply("?", (), Answer("Ответ.", "answered"), (), {}, "m", "", ""))

    monkeypatch.setattr(Fake, "stream", stream)
    assert asked(DONE)[1] == "Черновик\n\nОтвет.\n"
