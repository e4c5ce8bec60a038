"""The file behind a passage, as a download, and nothing that is no file of the knowledge base."""

from dataclasses import replace
from urllib.parse import quote

import pytest
from scripted_service import CHUNK_ID, ScriptedService, document, passage

from pipeline.settings import Settings
from pipeline.types import SourceView

HTML = b"<html><script>alert(1)</script>\xcf\xf0\xe8\xe2\xe5\xf2"


@pytest.fixture
def serve(start, tmp_path):
    def begin(file: str, **changes):
        doc = replace(document(), file=file)
        view = SourceView(doc, replace(passage(doc), **changes))
        return start(ScriptedService(view=view), Settings(home=tmp_path))

    return begin


def put(tmp_path, name: str, body: bytes = HTML):
    path = tmp_path / "knowledge_base" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)


def test_the_file_comes_byte_for_byte_and_is_never_shown(serve, tmp_path):
    put(tmp_path, "кадры/отпуск; 2.html")
    answered = serve("кадры/отпуск; 2.html").get(f"/source/{CHUNK_ID}/original")
    assert (answered.status, answered.body) == (200, HTML)
    assert answered.header("Content-Type") == "application/octet-stream"
    name = quote("отпуск; 2.html", safe="")
    assert answered.header("Content-Disposition") == f"attachment; filename*=UTF-8''{name}"
    assert answered.header("X-Content-Type-Options") == "nosniff"


def test_a_row_of_a_database_gives_the_database(serve, tmp_path):
    put(tmp_path, "склад.sqlite", b"SQLite format 3\0")
    client = serve("склад.sqlite/товары/17")
    assert client.get(f"/source/{CHUNK_ID}/original").body == b"SQLite format 3\0"
    assert f"/source/{CHUNK_ID}/original" in client.get(f"/source/{CHUNK_ID}").body.decode()


@pytest.mark.parametrize("file", ["нет.md", "../otvet.toml", "кадры", "/etc/passwd", "x" * 300 + ".md"])
def test_what_is_no_file_of_the_knowledge_base_is_not_found(serve, tmp_path, file):
    """Case 33: whatever an index says, nothing outside the folder is sent."""
    put(tmp_path, "кадры/отпуск.md")
    (tmp_path / "otvet.toml").write_text("secret")
    client = serve(file)
    assert client.get(f"/source/{CHUNK_ID}/original").status == 404
    page = client.get(f"/source/{CHUNK_ID}")
    assert page.status == 200
    assert "/original" not in page.body.decode()


def test_a_link_that_leads_out_is_not_followed(serve, tmp_path):
    secret = tmp_path / "secret.md"
    secret.write_text("secret")
    put(tmp_path, "a.md")
    (tmp_path / "knowledge_base" / "b.md").symlink_to(secret)
    assert serve("b.md").get(f"/source/{CHUNK_ID}/original").status == 404


def test_an_unknown_passage_has_no_file(serve):
    client = serve("a.md")
    assert client.get("/source/nothing/original").status == 404
    assert client.get("/source/..%2f..%2fx/original").status == 404


def test_the_page_of_a_source_names_the_headings_that_lead_to_it(serve):
    shown = serve("a.md", headings=("Кадры", "<b>Отпуск</b>")).get(f"/source/{CHUNK_ID}").body.decode()
    assert '<p class="path">Кадры › &lt;b&gt;Отпуск&lt;/b&gt;</p>' in shown
