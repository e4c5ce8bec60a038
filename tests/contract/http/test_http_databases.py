"""Questions over databases over HTTP: fields of the reply, confirmation, CSV, costs, from both servers."""

import csv
import io
from dataclasses import dataclass, field, replace

import pytest
from scripted_service import ScriptedService
from test_http_reply import KEYS, assert_problem

from pipeline.errors import NotFoundError, StatementRefusedError
from pipeline.messages import Phrase
from pipeline.types import (
    Chart,
    Clarification,
    Confirmation,
    DayCost,
    Option,
    Routed,
    Step,
    TableView,
)

RESULT = "0123456789abcdef" * 2
PENDING = "fedcba9876543210" * 2
TABLE = TableView(
    ("brand", "revenue"),
    ("category", "number"),
    (("=Лирика", 1234.5), ("Зенит", None)),
    True,
    ("марка", "выручка"),
)
STEPS = (Step("words", 0.01), Step("write", 2.5, 600, 30, "SELECT …"), Step("run", 0.0042, detail="2"))
ANSWERED = Routed("sql", STEPS, "shop", "SELECT 1", TABLE, Chart("bar", "brand", "revenue"), result=RESULT)
ROUTED_KEYS = ["route", "steps", "database", "sql", "table", "chart", "confirm", "clarify", "costs"]


@dataclass
class DatabaseService(ScriptedService):
    """A service that went some way over a database."""

    routed: Routed = ANSWERED
    table: TableView = TABLE
    days: list = field(default_factory=lambda: [DayCost("2026-11-30", "sql", "keyword", 2, 2, 1200, 60, 5.1)])

    def reply(self, request):
        return replace(super().reply(request), routed=self.routed, sources=())

    def result(self, result_id):
        if result_id != RESULT:
            raise NotFoundError(what=result_id)
        return self.table

    def costs(self):
        return self.days


@pytest.fixture
def over_tables(start):
    service = DatabaseService()
    return start(service), service


def test_a_reply_says_which_way_it_went_and_status_stays_last(over_tables):
    client, _ = over_tables
    found = client.ask({"question": "Выручка по маркам", "use_RAG": True}).json
    assert list(found) == [*KEYS[:-1], *ROUTED_KEYS, "status"]
    assert found["route"] == "sql"
    assert found["table"] == {
        "columns": ["brand", "revenue"],
        "labels": ["марка", "выручка"],
        "kinds": ["category", "number"],
        "rows": [["=Лирика", 1234.5], ["Зенит", None]],
        "truncated": True,
        "csv": f"http://127.0.0.1:{client.port}/ask/{RESULT}/table.csv",
    }
    assert found["chart"] == {"kind": "bar", "x": "brand", "y": "revenue"}
    assert found["steps"][1] == {
        "name": "write",
        "seconds": 2.5,
        "tokens_in": 600,
        "tokens_out": 30,
        "detail": "SELECT …",
    }
    assert found["costs"] == {"calls": 1, "tokens_in": 600, "tokens_out": 30, "seconds": 2.514}
    assert (found["confirm"], found["clarify"]) == (None, None)


def test_a_reply_that_took_no_route_is_as_it_always_was(standing):
    assert list(standing.ask({"question": "Сколько дней отпуск?"}).json) == KEYS


def test_route_database_and_confirmation_are_fields_of_a_question(over_tables):
    client, service = over_tables
    body = {"question": "Сколько?", "route": "hybrid", "database": "shop", "confirm_sql": True}
    assert client.ask(body).status == 200
    asked = service.requests[-1]
    assert (asked.route, asked.database, asked.confirm_sql) == ("hybrid", "shop", True)
    assert client.ask({"question": "Сколько?", "route": None, "confirm_sql": None}).status == 200
    asked = service.requests[-1]
    assert (asked.route, asked.database, asked.confirm_sql) == (None, "", None)
    assert_problem(client.ask({"question": "Сколько?", "route": "clarify"}), 400, "invalid_request")
    assert_problem(client.ask({"question": "Сколько?", "confirm_sql": "x"}), 400, "invalid_request")


def test_a_statement_waits_and_is_confirmed_edited_or_not(over_tables):
    client, service = over_tables
    service.routed = Routed(
        "sql", STEPS[:2], "shop", "SELECT 1", confirm=Confirmation(PENDING, "Посчитает строки.", 900)
    )
    found = client.ask({"question": "Сколько?", "confirm_sql": True}).json
    assert found["confirm"] == {"id": PENDING, "explanation": "Посчитает строки.", "expires_s": 900}
    assert found["table"] is None
    service.routed = ANSWERED
    done = client.ask({}, f"/ask/{PENDING}/confirm")
    assert done.json["table"]["rows"][0] == ["=Лирика", 1234.5]
    assert (service.requests[-1].confirmed, service.requests[-1].statement) == (PENDING, "")
    edited = client.ask({"sql": " SELECT 2 ", "format": False, "deadline_s": 5}, f"/ask/{PENDING}/confirm")
    assert edited.json["answer"] == service.answer
    asked = service.requests[-1]
    assert (asked.statement, asked.deadline_s) == ("SELECT 2", 5)


def test_a_confirmation_without_a_body_and_in_the_background(over_tables):
    client, service = over_tables
    assert client.send("POST", f"/ask/{PENDING}/confirm/").status == 200
    begun = client.ask({}, f"/ask/{PENDING}/confirm?async=1")
    assert begun.status == 202
    job = client.get(f"/ask/{begun.json['id']}").json
    assert job["state"] in ("running", "done")
    assert service.requests[-1].confirmed == PENDING


def test_a_statement_that_is_refused_or_gone_is_an_error(over_tables):
    client, service = over_tables
    service.error = StatementRefusedError(reason=Phrase("guard_several"))
    assert_problem(client.ask({"sql": "DROP TABLE x"}, f"/ask/{PENDING}/confirm"), 400, "statement_refused")
    service.error = NotFoundError(what=PENDING)
    assert_problem(client.ask({}, f"/ask/{PENDING}/confirm"), 404, "not_found")
    assert_problem(client.ask({}, "/ask/no-id/confirm"), 404, "not_found")
    assert_problem(client.ask({"sql": "x" * 10_001}, f"/ask/{PENDING}/confirm"), 400, "invalid_request")
    for wrong in (5, 0, False, [], {}):
        assert_problem(client.ask({"sql": wrong}, f"/ask/{PENDING}/confirm"), 400, "invalid_request")


def test_a_misspelt_field_of_a_confirmation_is_told(over_tables):
    """The statement ran as it was, not as somebody believes to have edited it."""
    client, service = over_tables
    found = client.ask({"statement": "SELECT 2", "sql": None}, f"/ask/{PENDING}/confirm").json
    assert "statement" in found["notes"][0]
    assert service.requests[-1].statement == ""
    assert "notes" not in client.ask({"sql": "SELECT 2", "format": False}, f"/ask/{PENDING}/confirm").json


def test_the_caller_is_asked_back(over_tables):
    client, service = over_tables
    service.routed = Routed(
        "clarify",
        clarify=Clarification(
            "Что нужно?", (Option("Посчитать", "Сколько?", "sql"), Option("Город", "Пермь?"))
        ),
    )
    found = client.ask({"question": "Пермь?", "use_RAG": True}).json
    assert found["clarify"] == {
        "question": "Что нужно?",
        "options": [
            {"label": "Посчитать", "question": "Сколько?", "route": "sql"},
            {"label": "Город", "question": "Пермь?", "route": None},
        ],
    }


@pytest.mark.parametrize(
    ("language", "line"), [("ru", ["'=Лирика", "1234,5"]), ("en", ["'=Лирика", "1234.5"])]
)
def test_a_result_is_kept_as_csv_for_spreadsheets(over_tables, language, line):
    """A text that a spreadsheet would take for a formula is none any more."""
    client, _ = over_tables
    found = client.get(f"/ask/{RESULT}/table.csv", Accept_Language=language)
    assert found.status == 200
    assert found.header("Content-Type") == "text/csv; charset=utf-8"
    assert found.header("Content-Disposition") == "attachment; filename*=UTF-8''table.csv"
    assert found.body.startswith(b"\xef\xbb\xbf")
    rows = list(
        csv.reader(io.StringIO(found.body.decode("utf-8-sig")), delimiter=";" if language == "ru" else ",")
    )
    assert rows == [["марка", "выручка"], line, ["Зенит", ""]]
    assert_problem(client.get(f"/ask/{PENDING}/table.csv"), 404, "not_found")
    assert_problem(client.get("/ask/..%2f/table.csv"), 404, "not_found")


def test_costs_per_day(over_tables):
    client, _ = over_tables
    assert client.get("/costs").json == {
        "days": [
            {
                "day": "2026-11-30",
                "route": "sql",
                "strategy": "keyword",
                "questions": 2,
                "calls": 2,
                "tokens_in": 1200,
                "tokens_out": 60,
                "seconds": 5.1,
            }
        ],
        "status": "ok",
    }
