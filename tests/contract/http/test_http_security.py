"""Who may ask and what may be shown (cases 34, 37)."""

import json
from html.parser import HTMLParser

import pytest
from scripted_service import CHUNK_ID, ScriptedService, a_source, document, passage

from pipeline.assets import asset_folder
from pipeline.settings import ServerSettings, Settings
from pipeline.types import SourceView

BEARER = {"Authorization": "Bearer 0123456789abcdef"}
EVIL = (
    '<script>document.title="X"</script><img src=x onerror=alert(1)> [a](javascript:alert(1)) "\'</textarea>'
)


def ask_as(client, host, **headers):
    body = json.dumps({"question": "отпуск"}).encode()
    given = {"Host": host, "Content-Type": "application/json"} | headers
    return client.send("POST", "/ask", body, {name.replace("_", "-"): value for name, value in given.items()})


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8000",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.1.2.3:9",
        "[::1]",
        "[::1]:8000",
        "localhost.",
    ],
)
def test_loopback_names_are_let_in(standing, host):
    assert ask_as(standing, host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example:8000",
        "localhost@evil.example",
        "192.168.1.5",
        "0.0.0.0:8000",
        "[::]",
        "localhost, evil.example",
        "localhost:8000:9",
        "",
    ],
)
def test_other_names_are_refused_on_every_address(standing, host):
    """DNS rebinding: a page whose own name points to this machine."""
    answered = ask_as(standing, host)
    assert (answered.status, answered.json["error"]) == (403, "forbidden_host")
    for path in (
        "/",
        "/search?q=a",
        f"/source/{CHUNK_ID}",
        "/static/favicon.svg",
        "/nowhere",
        "/openapi.json",
    ):
        assert standing.get(path, Host=host).status == 403


def test_names_of_the_settings_are_let_in(start):
    names = ("otvet.company.example", "Сервер.рф", "192.168.1.5:8000")
    named = ServerSettings(host="10.0.0.7", allowed_hosts=names, token="0123456789abcdef")
    client = start(ScriptedService(), Settings(server=named))
    for host in ("OTVET.company.example:80", "xn--b1afaslnbn.xn--p1ai", "192.168.1.5:9000", "10.0.0.7:8000"):
        expected = "xn--b1afaslnbn.xn--p1ai" if host.startswith("xn") else host
        assert (
            ask_as(
                client, "Сервер.рф".encode("idna").decode() if host.startswith("xn") else expected, **BEARER
            ).status
            == 200
        )
    assert ask_as(client, "10.0.0.8", **BEARER).status == 403


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://localhost:9999",
        "http://localhost:3000",
        "null",
        "file://",
        "",
        "http://localhost:8000.evil.example",
        "http://localhost:8000/path",
        "http://[::1",
    ],
)
def test_pages_of_other_sites_are_refused(standing, origin):
    answered = ask_as(standing, "localhost:8000", Origin=origin)
    assert (answered.status, answered.json["error"]) == (403, "forbidden_origin")


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8000", "http://localhost:8000"),
        ("localhost", "http://localhost"),
        ("localhost:80", "http://localhost"),
        ("localhost", "https://localhost:443"),
        ("[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_our_own_page_may_ask(standing, host, origin):
    assert ask_as(standing, host, Origin=origin, Sec_Fetch_Site="same-origin").status == 200


def test_fetch_metadata_tells_what_has_no_origin(standing):
    """A picture or a script tag of another site sends no Origin with a GET."""
    for site in ("cross-site", "same-site"):
        refused = standing.get("/search?q=a", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors")
        assert (refused.status, refused.json["error"]) == (403, "forbidden_origin")
    followed = standing.get(f"/source/{CHUNK_ID}", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate")
    assert followed.status == 200
    form = ask_as(standing, "localhost", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate")
    assert form.status == 403


def test_no_answer_allows_another_site_to_read_it(standing):
    for answered in (
        ask_as(standing, "localhost", Origin="http://localhost"),
        ask_as(standing, "localhost", Origin="http://evil.example"),
        standing.get("/"),
        standing.get("/static/favicon.svg"),
    ):
        assert [name for name in answered.headers if name.lower().startswith("access-control")] == []
        assert answered.header("Cross-Origin-Resource-Policy") == "same-origin"
        assert answered.header("X-Content-Type-Options") == "nosniff"
        assert answered.header("Referrer-Policy") == "no-referrer"
        assert "frame-ancestors 'none'" in answered.header("Content-Security-Policy")


def test_pages_carry_a_strict_policy(standing):
    for path in ("/", f"/source/{CHUNK_ID}"):
        answered = standing.get(path)
        assert answered.header("Content-Type") == "text/html; charset=utf-8"
        policy = dict(
            part.strip().split(" ", 1) for part in answered.header("Content-Security-Policy").split(";")
        )
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["connect-src"] == "'self'"
        assert policy["base-uri"] == policy["frame-ancestors"] == "'none'"
        assert "unsafe" not in answered.header("Content-Security-Policy")


class Tags(HTMLParser):
    """Collects tags, links and text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.links, self.text, self.attributes = [], [], "", set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data):
        self.text += data


def test_markup_in_documents_is_shown_as_text(start):
    """Case 34: in the answer, in the page for a 1C form, and on the page of the source."""
    doc = document(text=f"Начало. {EVIL} Конец.", title=EVIL, link="javascript:alert(1)", file="<b>x</b>.txt")
    service = ScriptedService(
        answer=f"{EVIL} [1]",
        sources=(a_source(title=EVIL, quote=EVIL, file="<b>x</b>.txt", link="javascript:alert(1)"),),
        view=SourceView(doc, passage(doc, EVIL)),
        notes=(EVIL,),
    )
    client = start(service)
    question = "</textarea><script>alert(1)</script>"
    fragment = Tags(client.ask({"question": question}).json["answer"])
    assert set(fragment.tags) <= {"p", "a", "br"}
    assert fragment.attributes <= {"href"}
    assert '<script>document.title="X"</script>' in fragment.text
    assert "[a](javascript:alert(1))" in fragment.text
    page = Tags(client.ask({"question": question, "format": "html"}).json["answer"])
    assert {"script", "img", "textarea", "iframe"}.isdisjoint(page.tags)
    assert question in page.text
    shown = client.get(f"/source/{CHUNK_ID}")
    source = Tags(shown.body.decode())
    assert {"script", "img", "b", "textarea"}.isdisjoint(source.tags)
    assert f"Начало. {EVIL} Конец." in source.text
    assert "<b>x</b>.txt" in source.text
    for link in fragment.links + page.links + source.links:
        assert link.startswith(("http://", "#"))
    error = client.ask({"question": "а", "filter": {EVIL: 1}})
    assert error.header("Content-Type").startswith("application/json")


def test_the_page_of_a_source(start):
    doc = document(link="https://example.org/отпуск?a=1&b=2")
    client = start(ScriptedService(view=SourceView(doc, passage(doc))))
    russian = client.get(f"/source/{CHUNK_ID}").body.decode()
    assert '<mark id="passage">Отпуск длится 28 дней.</mark>' in russian
    assert '<html lang="ru">' in russian
    assert 'href="https://example.org/отпуск?a=1&amp;b=2"' in russian
    assert "кадры/отпуск.md" in russian
    english = client.get(f"/source/{CHUNK_ID}", Accept_Language="en").body.decode()
    assert "Open the original" in english


TRAVERSALS = [
    "../pyproject.toml",
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/etc/passwd",
    "..%5c..%5cwindows%5cwin.ini",
    "C:%5CWindows%5Cwin.ini",
    "C:/Windows/win.ini",
    "/etc/passwd",
    "%2Fetc%2Fpasswd",
    "css/../../pyproject.toml",
    "css/%2e%2e/%2e%2e/pyproject.toml",
    "css",
    "css/",
    ".",
    "favicon.svg%00.css",
    "favicon.svg::$DATA",
    "favicon.svg/",
    "x" * 5000,
    "%ff%fe",
]


@pytest.mark.parametrize("path", TRAVERSALS)
def test_nothing_outside_the_folder_is_served(standing, path):
    """Case 37."""
    answered = standing.get(f"/static/{path}")
    assert (answered.status, answered.json["error"]) == (404, "not_found")


@pytest.mark.parametrize("path", [*TRAVERSALS[:9], "нет", "a b", "x" * 200, "<script>"])
def test_no_file_is_reached_through_the_page_of_a_source(standing, path):
    """Case 37."""
    answered = standing.send(
        "GET", f"/source/{path.encode().decode('latin-1')}" if path.isascii() else "/source/%D0%BD"
    )
    assert answered.status in (400, 404)
    assert b"root:" not in answered.body


def test_static_files_are_plain_bytes_with_a_tag(standing):
    file = asset_folder("static") / "favicon.svg"
    answered = standing.get("/static/favicon.svg")
    assert answered.body == file.read_bytes()
    assert answered.header("Content-Type") == "image/svg+xml"
    assert answered.header("Cache-Control") == "no-cache"
    again = standing.get("/static/favicon.svg", If_None_Match=f'"x", W/{answered.header("ETag")}')
    assert (again.status, again.body) == (304, b"")
    assert again.header("ETag") == answered.header("ETag")
    assert standing.get("/static/favicon.svg", If_None_Match='"x"').status == 200


def test_scripts_have_the_type_that_nosniff_needs(standing):
    scripts = sorted((asset_folder("static") / "js").glob("*.js"))
    for script in scripts:
        answered = standing.get(f"/static/js/{script.name}")
        assert answered.header("Content-Type") == "text/javascript; charset=utf-8"


def test_the_page_is_plain_bytes(standing):
    answered = standing.get("/")
    assert answered.body == (asset_folder("templates") / "index.html").read_bytes()
    assert standing.get("/", If_None_Match=answered.header("ETag")).status == 304
