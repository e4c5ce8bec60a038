"""Off this machine nothing is answered without the token."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest
from scripted_service import ScriptedService

from pipeline.settings import ServerSettings, Settings

TOKEN = "a-token-of-enough-letters"
PATHS = (
    "/",
    "/kb",
    "/kb.json",
    "/status",
    "/search?q=a",
    "/static/js/app.js",
    "/source/c0ffee-1",
    "/nowhere",
)
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def client(start):
    return start(ScriptedService(), Settings(server=ServerSettings(host="0.0.0.0", token=TOKEN)))


def enter(client, token, target="/", **headers):
    body = urlencode({"token": token, "next": target}).encode()
    return client.send("POST", "/login", body, FORM | headers)


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_there_is_no_answer(client, path):
    answered = client.get(path)
    assert (answered.status, answered.json["error"]) == (401, "token_required")
    assert answered.header("WWW-Authenticate") == "Bearer"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_whatever_the_method(client, method):
    for path in ("/ask", "/kb/files/a.txt", "/nowhere"):
        assert client.send(method, path, b"{}", {}).status == 401


def test_the_page_to_enter_it_has_an_address_of_its_own(client):
    assert 'name="token"' in client.get("/login").body.decode()


def test_health_tells_that_the_process_lives(client):
    assert client.get("/health").status == 200


@pytest.mark.parametrize("host", ["192.168.1.7:8000", "[fe80::1]:8000", "localhost", "127.0.0.1"])
def test_a_program_sends_it_in_a_header_by_whatever_address(client, host):
    given = {"Host": host, "Authorization": f"Bearer {TOKEN}"}
    assert client.send("GET", "/status", None, given).status == 200
    assert client.send("GET", "/status", None, {"Host": host}).status == 401


def test_a_name_that_anybody_can_point_here_is_refused_all_the_same(client):
    given = {"Host": "evil.example", "Authorization": f"Bearer {TOKEN}"}
    assert client.send("GET", "/status", None, given).json["error"] == "forbidden_host"


@pytest.mark.parametrize(
    "given",
    [
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN.upper()}",
        f"Basic {TOKEN}",
        TOKEN,
        "Bearer \u00e9\u00e9",
    ],
)
def test_a_wrong_header_is_none(client, given):
    assert client.get("/status", Authorization=given).status == 401


def test_a_person_enters_it_once(client):
    page = client.get("/kb?x=1", Accept="text/html", Sec_Fetch_Mode="navigate")
    assert page.status == 401
    assert page.header("Content-Type") == "text/html; charset=utf-8"
    assert 'value="/kb?x=1"' in page.body.decode()
    assert TOKEN not in page.body.decode()

    wrong = enter(client, "no")
    assert wrong.status == 401
    assert "Ключ не подошёл" in wrong.body.decode()
    assert wrong.header("Set-Cookie") is None

    done = enter(client, f" {TOKEN} ", "/kb?x=1")
    assert (done.status, done.header("Location")) == (303, "/kb?x=1")
    cookie, *rules = done.header("Set-Cookie").split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(rules)
    assert TOKEN not in cookie
    assert client.get("/status", Cookie=f"a=b; {cookie}").status == 200
    assert client.get("/status", Cookie=f"{cookie}0").status == 401
    assert client.get("/status", Cookie=f"otvet={TOKEN}").status == 401


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "//[",
        "/\\[",
        "javascript:alert(1)",
        "evil",
    ],
)
def test_the_way_on_stays_on_this_server(client, target):
    assert enter(client, TOKEN, target).header("Location") == "/"


def test_a_form_that_is_not_ours_is_no_key(client):
    body = "&".join(f"field{number}=1" for number in range(20)).encode()
    assert client.send("POST", "/login", body + f"&token={TOKEN}".encode(), FORM).status == 401


def test_no_header_can_be_smuggled_into_the_way_on(client):
    assert "\n" not in enter(client, TOKEN, "/a\r\nSet-Cookie: x=y").header("Location")


def test_another_site_cannot_log_anybody_in(client):
    assert enter(client, TOKEN, Origin="https://evil.example").status == 403
    body = json.dumps({"token": TOKEN}).encode()
    assert client.send("POST", "/login", body, {"Content-Type": "application/json"}).status == 415


def test_a_script_gets_json_and_no_page(client):
    answered = client.get("/kb.json", Accept="*/*", Sec_Fetch_Mode="cors")
    assert answered.json["error"] == "token_required"


def test_without_a_token_only_this_machine_is_answered(start):
    names = ServerSettings(host="10.0.0.7", allowed_hosts=("otvet.example",))
    client = start(ScriptedService(), Settings(server=names))
    for host in ("10.0.0.7:8000", "otvet.example"):
        assert client.send("GET", "/status", None, {"Host": host}).json["error"] == "token_required"
    assert client.send("GET", "/status", None, {"Host": "localhost:8000"}).status == 200
    assert enter(client, "").status == 401


@pytest.mark.parametrize("token", ["short", "x" * 15, "ключ-из-русских-букв", "with\nline breaks in it"])
def test_a_token_that_can_be_guessed_or_not_sent_is_refused(token):
    with pytest.raises(ValueError, match="16 or more"):
        ServerSettings(token=token)


def test_the_token_is_never_printed():
    settings = Settings(server=ServerSettings(token=TOKEN))
    assert TOKEN not in f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
