"""The shape of replies and errors, the same from both servers (B6, B8-B10, B15-B17; cases 18, 25, 32, 33)."""

import json
import math
import re

import pytest
from scripted_service import CHUNK_ID, ScriptedService, a_source

from pipeline.errors import (
    BusyError,
    CancelledError,
    GeneratorError,
    IndexMissingError,
    NotReadyError,
    PromptTooLongError,
)
from pipeline.settings import Settings
from pipeline.types import Mark

KEYS = [
    "question",
    "flags",
    "answer",
    "outcome",
    "sources",
    "timings_ms",
    "model",
    "kb_version",
    "request_id",
    "status",
]
SOURCE_KEYS = ["n", "title", "link", "file", "quote", "start", "end", "score", "page", "chunk_id", "headings"]
IDENTIFIER = re.compile(r"[A-Za-zА-яЁё_][A-Za-zА-яЁё0-9_]*")


def keys_of(value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from keys_of(item)
    if isinstance(value, list):
        for item in value:
            yield from keys_of(item)


def assert_problem(answered, status, code):
    assert (answered.status, answered.json["error"]) == (status, code)
    assert list(answered.json) == ["error", "message", "hint", "request_id", "status"]
    assert answered.json["status"] == "error"
    assert answered.header("Content-Type") == "application/json; charset=utf-8"
    assert answered.header("X-Request-Id") == answered.json["request_id"]


def test_reply_has_the_keys_of_the_contract_in_its_order(standing):
    answered = standing.ask({"question": "Сколько дней отпуск?"})
    assert answered.status == 200
    assert list(answered.json) == KEYS
    assert list(answered.json["sources"][0]) == SOURCE_KEYS
    assert answered.json["status"] == "ok"
    assert answered.body.rstrip().endswith(b'"status":"ok"}')
    assert answered.json["request_id"] == answered.header("X-Request-Id")


def test_stages_come_only_with_the_flag_or_the_field(standing):
    for fields in ({"question": "отпуск -s"}, {"question": "отпуск", "scores": True}):
        source = standing.ask(fields).json["sources"][0]
        assert list(source) == [*SOURCE_KEYS, "stages"]
        assert [list(stage) for stage in source["stages"]] == [["name", "score", "rank"]] * 2


def test_bytes_are_utf8_without_mark_and_cyrillic_is_written_as_it_is(standing):
    body = standing.ask({"question": "Отпуск"}).body
    assert not body.startswith(b"\xef\xbb\xbf")
    assert "Отпуск".encode() in body
    assert b"\\u04" not in body


def test_every_key_is_a_1c_identifier_and_no_value_is_nan(start):
    """Cases 15 and 22 of the list and B15, B17: names and values that would break ПрочитатьJSON."""
    service = ScriptedService(
        sources=(a_source(score=math.nan), a_source(2, score=math.inf)),
        timings={"cross-encoder": math.inf, "1st token": 3.0, "поиск": 1.0},
        state={"a-b": {"1": math.nan}, "файл.md": 1},
        marks=(Mark(0, 6, "no_source"),),
        notes=("Заметка.",),
    )
    client = start(service)
    for answered in (client.ask({"question": "отпуск -s"}), client.get("/status"), client.get("/nowhere")):
        assert b"NaN" not in answered.body
        assert b"Infinity" not in answered.body
        assert [key for key in keys_of(answered.json) if not IDENTIFIER.fullmatch(key)] == []
        assert list(answered.json)[-1] == "status"
    reply = client.ask({"question": "отпуск"}).json
    assert [source["score"] for source in reply["sources"]] == [None, None]
    assert reply["timings_ms"] == {"cross_encoder": None, "_1st_token": 3.0, "поиск": 1.0}
    assert reply["marks"] == [{"start": 0, "end": 6, "text": "Отпуск", "reason": "no_source"}]


def test_numbers_are_written_without_exponent(start):
    client = start(ScriptedService(sources=(a_source(score=1.234e-7),), timings={"a": 1e-9}))
    body = client.ask({"question": "отпуск"}).body
    numbers = re.findall(rb'"(?:score|a)":([^,}]+)', body)
    assert numbers == [b"0.0", b"0.0"]


def test_a_source_without_an_address_links_to_our_page(start):
    sources = (
        a_source(1),
        a_source(2, link="https://example.org/a?b=1&c=2"),
        a_source(3, link="javascript:alert(1)"),
        a_source(4, link="file:///etc/passwd"),
    )
    client = start(ScriptedService(sources=sources))
    links = [source["link"] for source in client.ask({"question": "отпуск", "top_k": 20}).json["sources"]]
    own = f"http://127.0.0.1:{client.port}/source/{CHUNK_ID}#passage"
    assert links == [own, "https://example.org/a?b=1&c=2", own, own]
    assert client.get(f"/source/{CHUNK_ID}").status == 200


def test_format(start):
    """B19-B22: a fragment by default, plain text, or one whole page that needs nothing else."""
    client = start(ScriptedService(answer="# Отпуск\n- 28 дней [1]\n- **оплачен**"))
    link = f"http://127.0.0.1:{client.port}/source/{CHUNK_ID}#passage"
    fragment = f'<h4>Отпуск</h4><ul><li>28 дней <a href="{link}">[1]</a></li><li><b>оплачен</b></li></ul>'
    spelled = [{"format": word} for word in ("true", "True", "1", "Да", "Истина")]
    for given in ({}, {"format": None}, {"format": True}, *spelled):
        assert client.ask({"question": "отпуск"} | given).json["answer"] == fragment
    plain = client.ask({"question": "отпуск", "format": False}).json["answer"]
    assert plain == "# Отпуск\n- 28 дней [1]\n- **оплачен**"
    for word in ("false", "FALSE", "0", "Нет", "Ложь"):
        assert client.ask({"question": "отпуск", "format": word}).json["answer"] == plain
    page = client.ask({"question": "отпуск", "format": "html"}).json["answer"]
    assert client.ask({"question": "отпуск", "format": "HTML"}).json["answer"] == page
    assert page.startswith("<!DOCTYPE html>")
    assert '<meta charset="utf-8">' in page
    assert '<meta http-equiv="X-UA-Compatible" content="IE=edge">' in page
    assert fragment in page
    assert "<script" not in page
    assert " src=" not in page


def test_fields_reach_the_service_with_their_defaults(start):
    service = ScriptedService()
    client = start(service)
    client.ask({"question": "отпуск"})
    client.ask(
        {
            "question": "отпуск -ce",
            "use_RAG": True,
            "top_k": 20,
            "sources_limit": 9,
            "cross_encoder": True,
            "scores": True,
            "filter": {
                "source_type": ["md"],
                "tags": "hr",
                "path_prefix": "docs/",
                "metadata": {"year": 2024, "owner": ["Анна", 5, True]},
                "date": {"from": "2024", "to": "2024-03-05T00:00:00"},
            },
            "prompt": "Перескажи",
            "data": ["раз", "два"],
            "deadline_s": 1.5,
        }
    )
    plain, full = service.requests
    assert (plain.use_rag, plain.top_k, plain.sources_limit, plain.deadline_s) == (False, 3, 3, 120)
    assert (plain.filter, plain.prompt, plain.data) == (None, None, ())
    assert plain.client == "127.0.0.1"
    assert (full.question, full.use_rag, full.top_k, full.sources_limit) == ("отпуск -ce", True, 20, 9)
    assert (full.cross_encoder, full.scores, full.deadline_s) == (True, True, 1.5)
    assert (full.filter.source_types, full.filter.tags, full.filter.path_prefix) == (
        ("md",),
        ("hr",),
        "docs/",
    )
    assert full.filter.metadata == {"year": 2024, "owner": ("Анна", 5, True)}
    assert (full.filter.since, full.filter.until) == ("2024", "2024-03-05")
    assert (full.prompt, full.data) == ("Перескажи", ("раз", "два"))


def test_null_means_the_default(start):
    """B14: 1C writes Неопределено as null."""
    service = ScriptedService()
    names = ("use_RAG", "format", "top_k", "sources_limit", "cross_encoder", "scores", "filter", "prompt")
    fields = dict.fromkeys((*names, "data", "deadline_s"))
    assert start(service).ask({"question": "отпуск"} | fields).status == 200
    assert service.requests[0].top_k == 3


@pytest.mark.parametrize("value", ["5", 0, -1, 1000, 21, 2.5, True, [], {}, 1e300])
def test_top_k_out_of_its_range_is_refused_by_name(standing, value):
    """Case 18."""
    answered = standing.ask({"question": "отпуск", "top_k": value})
    assert_problem(answered, 400, "invalid_request")
    assert "top_k" in answered.json["message"]
    assert "от 1 до 20" in answered.json["message"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("question", None),
        ("question", 5),
        ("question", ["а"]),
        ("use_RAG", "true"),
        ("use_RAG", 1),
        ("format", 1),
        ("format", "pdf"),
        ("format", {}),
        ("sources_limit", 10),
        ("scores", 0),
        ("cross_encoder", "да"),
        ("deadline_s", 0.5),
        ("deadline_s", 601),
        ("prompt", 5),
        ("data", 5),
        ("data", ["а", 5]),
        ("filter", "md"),
        ("filter", {"tags": 5}),
        ("filter", {"tag": ["hr"]}),
        ("filter", {"path_prefix": 1}),
        ("filter", {"metadata": {"a": []}}),
        ("filter", {"metadata": {"a": [[1]]}}),
        ("filter", {"metadata": {"a": None}}),
        ("filter", {"date": "2024"}),
        ("filter", {"date": {"from": 2024}}),
        ("filter", {"date": {"from": "вчера"}}),
        ("filter", {"date": {"to": "2024-13"}}),
        ("filter", {"date": {"since": "2024"}}),
    ],
)
def test_a_field_of_a_wrong_type_is_named(standing, field, value):
    answered = standing.ask({"question": "отпуск"} | {field: value})
    assert_problem(answered, 400, "invalid_request")
    assert field in answered.json["message"]


def test_an_empty_date_of_a_form_asks_nothing(start):
    """1C writes a date that was not filled in as the first day of the first year."""
    service = ScriptedService()
    date = {"from": "0001-01-01T00:00:00", "to": None}
    assert start(service).ask({"question": "отпуск", "filter": {"date": date}}).status == 200
    assert (service.requests[0].filter.since, service.requests[0].filter.until) == ("", "")


def test_a_missing_question_is_named(standing):
    assert "question" in standing.ask({"use_RAG": True}).json["message"]


def test_unknown_fields_are_ignored_with_a_note(standing):
    reply = standing.ask({"question": "отпуск", "use_rag": True, "Номер": 5}).json
    assert reply["notes"] == [
        "Поле «use_rag» не входит в контракт и пропущено; возможно, имелось в виду «use_RAG».",
        "Поле «Номер» не входит в контракт и пропущено.",
    ]
    assert list(reply)[-2:] == ["notes", "status"]


def test_an_overlong_question_names_the_limit(standing):
    """Case 25."""
    answered = standing.ask({"question": "ы" * 20_000})
    assert_problem(answered, 400, "question_too_long")
    assert "2000" in answered.json["message"]
    assert standing.ask({"question": "ы" * 2000}).status == 200


def test_a_prompt_that_does_not_fit_says_so(start):
    """Case 25."""
    client = start(ScriptedService(error=PromptTooLongError(tokens=9000, limit=4096)))
    answered = client.ask({"question": "отпуск", "use_RAG": True})
    assert_problem(answered, 413, "prompt_too_long")
    assert "4096" in answered.json["message"]


@pytest.mark.parametrize("question", ["-s -ce", "-s", "--", " -s", "", "   ", "-1 -k"])
def test_flags_alone_are_no_question(standing, question):
    """Case 32."""
    assert_problem(standing.ask({"question": question}), 400, "empty_question")


@pytest.mark.parametrize(
    ("question", "text", "flags"),
    [
        ("-5 градусов — это холодно?", "-5 градусов — это холодно?", []),
        ("ключ -s в команде", "ключ -s в команде", []),
        ("что делает git commit -s?", "что делает git commit -s?", []),
        ('"-s"', '"-s"', []),
        ("отпуск -s -ce", "отпуск", ["-s", "-ce"]),
        ("отпуск -S", "отпуск -S", []),
    ],
)
def test_the_reply_says_what_was_understood(standing, question, text, flags):
    """Cases 32 and 33."""
    reply = standing.ask({"question": question}).json
    assert (reply["question"], reply["flags"]) == (text, flags)


@pytest.mark.parametrize("path", ["/ask", "/ask/"])
def test_both_slash_forms_answer_directly(standing, path):
    """B6: 1C follows no redirect."""
    assert standing.ask({"question": "отпуск"}, path).status == 200


def test_every_address_answers_with_and_without_a_slash(standing):
    for path in ("/search?q=a", "/health", "/ready", "/status", "/openapi.json", f"/source/{CHUNK_ID}"):
        bare, _, query = path.partition("?")
        slashed = f"{bare}/?{query}" if query else f"{bare}/"
        assert standing.get(path).status == standing.get(slashed).status == 200


@pytest.mark.parametrize(
    "path",
    ["/nowhere", "/ask/x/y", "/%D0%BE", "/static", "/static/", "/source/", "/kb/files/a%0ab.txt", "/%0aa"],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"])
def test_an_unknown_address_is_a_json_error_for_every_method(standing, path, method):
    body = b"{}" if method in ("POST", "PUT", "PATCH") else None
    assert_problem(standing.send(method, path, body), 404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/ask", "POST, OPTIONS"),
        ("HEAD", "/ask/stream", "POST, OPTIONS"),
        ("PUT", "/ask/", "POST, OPTIONS"),
        ("BREW", "/ask", "POST, OPTIONS"),
        ("POST", "/search", "GET, HEAD, OPTIONS"),
        ("DELETE", "/", "GET, HEAD, OPTIONS"),
        ("TRACE", "/health", "GET, HEAD, OPTIONS"),
        ("POST", f"/source/{CHUNK_ID}", "GET, HEAD, OPTIONS"),
    ],
)
def test_a_wrong_method_is_a_json_error_with_allow(standing, method, path, allowed):
    answered = standing.send(method, path, b"" if method in ("PUT", "POST") else None)
    assert answered.status == 405
    assert sorted(answered.header("Allow").split(", ")) == sorted(allowed.split(", "))
    if method != "HEAD":
        assert_problem(answered, 405, "method_not_allowed")


def test_head_is_get_without_the_body(standing):
    for path in ("/", "/search?q=a", "/health", "/status", f"/source/{CHUNK_ID}", "/static/favicon.svg"):
        get, head = standing.get(path), standing.send("HEAD", path)
        assert head.status == get.status == 200
        assert head.body == b""
        for name in ("Content-Type", "Content-Length", "ETag", "Content-Security-Policy"):
            if name != "Content-Length" or path.startswith(("/static", "/source")) or path == "/":
                assert head.header(name) == get.header(name), (path, name)
        assert int(head.header("Content-Length")) > 0


def test_options_names_the_methods_and_nothing_more(standing):
    answered = standing.send("OPTIONS", "/ask", None, {"Access-Control-Request-Method": "POST"})
    assert (answered.status, answered.body) == (204, b"")
    assert answered.header("Allow") == "POST, OPTIONS"
    assert answered.header("Content-Type") is None
    assert [name for name in answered.headers if name.lower().startswith("access-control")] == []


def test_nothing_is_compressed_and_no_software_is_named(standing):
    """B8: the platform does not unpack gzip."""
    answered = standing.ask({"question": "отпуск " * 100}, Accept_Encoding="gzip, deflate, br")
    assert answered.header("Content-Encoding") is None
    assert answered.header("Server") is None
    assert answered.header("Via") is None
    assert int(answered.header("Content-Length")) == len(answered.body)


@pytest.mark.parametrize(
    ("accept", "word"),
    [
        ("", "поля"),
        ("*/*", "поля"),
        ("en", "Field"),
        ("en-US,en;q=0.9,ru;q=0.8", "Field"),
        ("de, en;q=0.5", "Field"),
        ("ru-RU,ru;q=0.9,en-US;q=0.8,en;q=0.7", "поля"),
        ("en;q=0, ru", "поля"),
        ("мусор, en", "поля"),
        ("fr", "поля"),
    ],
)
def test_messages_follow_accept_language(standing, accept, word):
    headers = {"Accept_Language": accept.encode().decode("latin-1")} if accept else {}
    answered = standing.ask({"question": 5}, **headers)
    expected = "Field" if accept == "мусор, en" else word
    assert expected in answered.json["message"]


def test_the_settings_choose_the_language_of_a_client_that_names_none(start):
    client = start(ScriptedService(), Settings(language="en"))
    assert "Field" in client.ask({"question": 5}).json["message"]


@pytest.mark.parametrize(
    ("error", "status", "code", "retry"),
    [
        (BusyError(waiting=8, retry_after_s=7), 503, "busy", "7"),
        (NotReadyError(what="model"), 503, "not_ready", "2"),
        (IndexMissingError(path="embeddings"), 503, "index_missing", "30"),
        (GeneratorError(reason="x"), 500, "generator", None),
        (CancelledError(), 499, "cancelled", None),
        (RuntimeError("секрет /home/user"), 500, "internal", None),
        (KeyError("секрет"), 500, "internal", None),
        (MemoryError(), 500, "internal", None),
    ],
)
def test_every_error_has_its_status_and_the_server_goes_on(start, caplog, error, status, code, retry):
    service = ScriptedService(error=error)
    client = start(service)
    answered = client.ask({"question": "отпуск", "use_RAG": True})
    assert_problem(answered, status, code)
    assert answered.header("Retry-After") == retry
    assert "секрет" not in answered.body.decode()
    assert b"Traceback" not in answered.body
    if code == "internal":
        logged = next(record for record in caplog.records if record.exc_info)
        assert answered.json["request_id"] in logged.getMessage()
    service.error = None
    assert client.ask({"question": "отпуск"}).status == 200


def test_search_answers_with_the_reply_of_sources(start):
    service = ScriptedService()
    client = start(service)
    answered = client.get("/search?q=%D0%BE%D1%82%D0%BF%D1%83%D1%81%D0%BA+-s&top_k=5&format=false")
    assert answered.status == 200
    assert list(answered.json) == KEYS
    assert answered.json["flags"] == ["-s"]
    assert answered.json["answer"] == service.answer
    request = service.requests[0]
    assert (request.question, request.top_k, request.use_rag) == ("отпуск -s", 5, False)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "invalid_request"),
        ("q=", "empty_question"),
        ("q=%EE%F2%EF%F3%F1%EA", "malformed_body"),
        ("q=а&top_k=много".encode().decode("latin-1"), None),
        ("q=a&top_k=0", "invalid_request"),
        ("q=a&top_k=5x", "invalid_request"),
        ("q=a&scores=maybe", "invalid_request"),
        ("q=a%00b", ""),
        ("q=a&use_RAG=true", ""),
    ],
)
def test_search_refuses_what_it_cannot_read(standing, query, code):
    answered = standing.get(f"/search?{query}")
    if code is None:  # raw bytes in an address are no HTTP; servers may refuse them as they like
        assert answered.status == 400
    elif code:
        assert_problem(answered, 400, code)
    else:
        assert answered.status == 200


def test_health_ready_and_status(start):
    service = ScriptedService(is_ready=False)
    client = start(service)
    assert client.get("/health").json == {"status": "ok"}
    waiting = client.get("/ready")
    assert_problem(waiting, 503, "not_ready")
    assert waiting.header("Retry-After") == "2"
    assert client.get("/status").json == {
        "version": "0.1.0",
        "ready": False,
        "queue": {"waiting": 0},
        "status": "ok",
    }
    service.is_ready = True
    assert client.get("/ready").json == {"ready": True, "status": "ok"}
    service.never_ready = IndexMissingError(path="embeddings")
    assert_problem(client.get("/ready"), 503, "index_missing")
    assert client.get("/status").json["ready"] is False
    service.state = {"stuck": True}
    stuck = client.get("/health", Accept_Language="ru")
    assert_problem(stuck, 500, "generator")
    assert "молчит" in stuck.json["message"]


def test_openapi_names_every_address_and_field(standing):
    document = standing.get("/openapi.json").json
    assert document["openapi"].startswith("3.1")
    assert "/source/{chunk_id}" in document["paths"]
    question = document["components"]["schemas"]["Question"]["properties"]
    assert question["top_k"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 20,
        "description": "Sources to return.",
        "default": 3,
    }
    assert list(document["components"]["schemas"]["Reply"]["properties"]) == [
        *KEYS[:-1],
        "notes",
        "marks",
        "route",
        "steps",
        "database",
        "sql",
        "table",
        "chart",
        "confirm",
        "clarify",
        "costs",
        "status",
    ]
    for path in ("/docs", "/redoc"):
        assert standing.get(path).status == 404


def test_the_same_question_gives_the_same_bytes_from_both_servers(standing):
    body = standing.ask({"question": "отпуск"}).body
    fixed = re.sub(rb'"request_id":"\w+"', b"", body).replace(str(standing.port).encode(), b"PORT")
    assert json.loads(body)["answer"]
    assert fixed.startswith('{"question":"отпуск","flags":[],"answer":"<p>Вопрос: отпуск '.encode())
