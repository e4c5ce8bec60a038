"""The small parts: JSON, languages, statuses, the table of addresses, files, the page of a source."""

import json
import math
import re
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import errors
from pipeline.errors import BusyError, NotFoundError, OtvetError
from pipeline.types import Chunk, Document, SourceView
from pipeline.web import files, jsontext, problems
from pipeline.web.departures import client_left
from pipeline.web.exchange import joined
from pipeline.web.pages import source_page
from pipeline.web.routes import ROUTES, allowed_methods


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.text(st.characters()),
        lambda items: (
            st.lists(items, max_size=3) | st.dictionaries(st.text(st.characters()), items, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_json_is_readable_by_everyone(value):
    def refuse(name):
        raise AssertionError(name)

    written = jsontext.dumps(value)
    json.loads(written.decode("utf-8"), parse_constant=refuse)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("top_k", "top_k"),
        ("cross-encoder", "cross_encoder"),
        ("1st", "_1st"),
        ("", "_"),
        ("файл.md", "файл_md"),
        ("№ 5", "__5"),
        ("\ud800", "_"),
    ],
)
def test_identifiers(name, expected):
    assert jsontext.identifier(name) == expected


def test_numbers_that_json_has_no_word_for_become_null():
    assert jsontext.dumps({"a": [math.nan, math.inf, -math.inf, 0.5]}) == b'{"a":[null,null,null,0.5]}'


@pytest.mark.parametrize(
    ("accept", "language"),
    [
        ("", "ru"),
        ("en", "en"),
        ("EN-gb", "en"),
        ("ru;q=0.5, en;q=0.6", "en"),
        ("ru;q=0.6, en;q=0.6", "ru"),
        ("en;q=0.6, ru;q=0.6", "en"),
        ("en;q=0", "ru"),
        ("english", "ru"),
        ("de,*;q=0.5", "ru"),
        (",,,;;;q=", "ru"),
        ("en;q=2", "ru"),
        ("x" * 100_000, "ru"),
    ],
)
def test_language(accept, language):
    assert problems.choose_language(accept, "ru") == language


def test_every_error_has_a_status_and_503_says_when_to_come_back():
    for name in errors.__all__:
        kind = getattr(errors, name)
        error = kind()
        assert 400 <= problems.status_of(error) <= 599, name
        assert (problems.retry_after(error) is not None) == (problems.status_of(error) == 503), name
        expected = range(400, 500) if issubclass(kind, errors.RequestError) else range(400, 600)
        assert problems.status_of(error) in expected


@pytest.mark.parametrize(("seconds", "shown"), [(0.2, 1), (7, 7), (12.6, 13), ("3", 3)])
def test_retry_after_is_a_whole_number_of_seconds(seconds, shown):
    assert problems.retry_after(BusyError(waiting=1, retry_after_s=seconds)) == shown


def test_a_message_never_grows_with_what_was_sent():
    found = problems.problem(NotFoundError(what="я" * 10_000), "ru", "id")
    assert len(str(found["message"])) <= 600


def test_the_base_of_all_errors_is_internal():
    assert problems.problem(OtvetError(), "en", "id")["error"] == "internal"


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/", "GET HEAD OPTIONS"),
        ("/ask", "POST OPTIONS"),
        ("/ask/", "POST OPTIONS"),
        ("/source/x/", "GET HEAD OPTIONS"),
        ("/static/a/b.css", "GET HEAD OPTIONS"),
        ("/openapi.json", "GET HEAD OPTIONS"),
        ("/openapixjson", ""),
        ("/static/", ""),
        ("/source/a/b", ""),
        ("/ask/x", "GET HEAD DELETE OPTIONS"),
        ("/ask/x/y", ""),
        ("", ""),
    ],
)
def test_the_table_knows_its_paths(path, methods):
    assert " ".join(allowed_methods(path)) == methods


def test_every_address_is_in_the_table_once():
    addresses = [(route.method, template) for route in ROUTES for template in route.templates]
    assert len(addresses) == len(set(addresses))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of static files with a secret beside it."""
    static = tmp_path / "static"
    (static / "css").mkdir(parents=True)
    (static / "css" / "a.css").write_text("a{}", encoding="utf-8")
    (static / "значок 1.svg").write_text("<svg/>", encoding="utf-8")
    (static / "run.exe").write_text("x", encoding="utf-8")
    (static / ".env.txt").write_text("x", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("x", encoding="utf-8")
    monkeypatch.setattr(files, "asset_folder", lambda name: tmp_path / name)
    return static


def test_static_files(folder):
    found = files.static_file("css/a.css", {})
    assert (found.status, found.body, found.content_type) == (200, b"a{}", "text/css; charset=utf-8")
    assert files.static_file("значок 1.svg", {}).status == 200
    assert files.static_file("css/a.css", {"if-none-match": "*"}).status == 304


@pytest.mark.parametrize(
    "path",
    [
        *(
            "run.exe",
            ".env.txt",
            "../secret.txt",
            "css",
            "css//a.css",
            "",
            "нет.css",
            "css/a.css/",
            "css\\a.css",
        ),
        *("CON", "a.css:x", "x" * 300 + ".css", "css/a.css\x00", "\n", "link.txt", "dir/secret.txt"),
    ],
)
def test_what_is_no_static_file(folder, path):
    """Case 37: links that lead outside included."""
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "dir").symlink_to(folder.parent, target_is_directory=True)
    with pytest.raises(NotFoundError):
        files.static_file(path, {})


@given(st.text(max_size=40))
def test_no_path_leads_out(path):
    try:
        found = files.static_file(path, {})
    except NotFoundError:
        return
    assert found.status == 200


def a_view(text, start, end, **changes):
    document = Document(id="d", file="a.txt", title="Т", link=changes.get("link"), text=text, blocks=())
    chunk = Chunk("c", "d", 0, "Т", text[start:end], start, end, file="a.txt", page=changes.get("page"))
    return SourceView(document, chunk)


def test_a_long_document_is_shown_around_the_passage():
    view = a_view("а" * 300_000 + "МЕСТО" + "б" * 300_000, 300_000, 300_005, page=7)
    page = source_page(view, "ru").body.decode()
    assert "Показана часть документа" in page
    assert "страница 7" in page
    before, after = re.search(r"(а+)<mark[^>]*>МЕСТО</mark>(б+)", page).groups()
    assert len(before) == len(after) == 100_000


def test_the_style_of_the_page_is_the_one_its_policy_allows():
    import base64
    import hashlib

    response = source_page(a_view("текст", 0, 5), "en")
    style = re.search(r"<style>(.*?)</style>", response.body.decode(), re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in response.headers["Content-Security-Policy"]


def test_repeated_headers_are_joined():
    found = joined([("Host", "a"), ("X", "1"), ("HOST", "b")])
    assert found == {"host": "a,b", "x": "1"}


def test_without_a_word_from_the_server_nobody_has_left():
    assert client_left({})() is False


def test_a_socket_tells_who_has_left():
    ours, theirs = socket.socketpair()
    with ours:
        left = client_left({"werkzeug.socket": ours})
        assert left() is False
        theirs.sendall(b"x")
        assert left() is False
        theirs.close()
        assert ours.recv(1) == b"x"
        assert left() is True
    assert left() is True
