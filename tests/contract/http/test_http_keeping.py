"""Looking after the knowledge base over both servers: put in, ask, replace, take out, bring back."""

from __future__ import annotations

import json
import threading
import time
from urllib.parse import quote

import pytest

from pipeline import bootstrap
from pipeline.embedders.hash import HashEmbedder
from pipeline.indexing import EmbedderSource
from pipeline.settings import IndexSettings, Settings
from pipeline.web.bodies import UPLOAD_LIMIT

TEXT = "[Тема] Отпуск\nОтпуск длится 28 дней.\n\n[Тема] Пароль\nПароль от склада — Берёза-17.\n"


class GatedEmbedder(HashEmbedder):
    """Encodes passages only while its gate is open; questions always."""

    def __init__(self):
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()

    def encode(self, texts, role, **more):
        if role == "passage":
            assert self.gate.wait(20)
        return super().encode(texts, role, **more)


@pytest.fixture
def embedder():
    return GatedEmbedder()


@pytest.fixture
def home(tmp_path, monkeypatch, embedder):
    spec = embedder.spec
    monkeypatch.setattr(bootstrap, "create_embedder", lambda _: embedder)
    monkeypatch.setattr(bootstrap, "create_generator", lambda _: None)
    monkeypatch.setattr(
        bootstrap, "embedder_source", lambda _: EmbedderSource(spec.id, spec.prefix_scheme, lambda: embedder)
    )
    (tmp_path / "knowledge_base").mkdir()
    return tmp_path


@pytest.fixture
def client(home, start):
    settings = Settings(home=home, index=IndexSettings(large_block_tokens=5))
    service = bootstrap.create_service(settings)
    service.start()
    yield start(service, settings)
    service.close()


def put(client, name, body, query="", **headers):
    return client.send("PUT", f"/kb/files/{quote(name)}{query}", body, headers)


def post(client, path, fields):
    return client.send("POST", path, json.dumps(fields).encode(), {"Content-Type": "application/json"})


def renewed(client):
    """Bring the index up to date and wait until the server answers from it."""
    answered = post(client, "/kb/index", {})
    assert answered.status == 202
    end = time.monotonic() + 20
    while (state := client.get("/kb/index").json)["phase"] in ("reading", "encoding"):
        assert time.monotonic() < end
        time.sleep(0.02)
    assert (state["phase"], state["failure"]) == ("done", None)
    while client.get("/ready").status != 200 or not shows(client, state):
        assert time.monotonic() < end
        time.sleep(0.05)
    return state


def shows(client, state):
    return client.get("/kb.json").json["kb_version"] == client.get("/status").json["index"]["kb_version"]


def files(client):
    return {file["file"]: file for file in client.get("/kb.json").json["files"]}


def test_a_cp1251_file_is_put_in_and_asked_about(client, home):
    """Case 20: the encoding is guessed and told."""
    answered = put(client, "кадры/отпуск.txt", TEXT.encode("cp1251"))
    assert (answered.status, answered.json["file"], answered.json["replaced"]) == (
        201,
        "кадры/отпуск.txt",
        None,
    )
    assert files(client)["кадры/отпуск.txt"]["state"] == "new"
    report = renewed(client)["report"]
    assert (report["indexed"], report["chunks"], report["embedded"]) == (1, 2, 2)
    file = files(client)["кадры/отпуск.txt"]
    assert (file["state"], file["chunks"], file["encoding"]) == ("indexed", 2, "cp1251")
    assert file["bytes"] == len(TEXT.encode("cp1251"))
    found = client.get("/search?q=" + quote("сколько длится отпуск")).json
    assert found["sources"][0]["quote"] == "Отпуск длится 28 дней."


def test_a_compressed_body_does_not_become_a_file(client):
    answered = put(client, "a.txt", b"\x1f\x8b", **{"Content-Encoding": "gzip"})
    assert (answered.status, answered.json["error"]) == (415, "unsupported_media_type")
    assert files(client) == {}


def test_while_it_indexes_the_server_answers_from_the_old_index(client, embedder):
    put(client, "a.txt", TEXT.encode())
    renewed(client)
    before = client.get("/status").json["index"]["kb_version"]
    embedder.gate.clear()
    put(client, "b.txt", "Отпуск длится 30 дней.".encode())
    assert post(client, "/kb/index", {}).json["phase"] == "reading"
    for _ in range(3):
        found = client.get("/search?q=" + quote("сколько длится отпуск")).json
        assert found["sources"][0]["quote"] == "Отпуск длится 28 дней."
        assert found["kb_version"] == before
    assert client.get("/kb/index").json["phase"] in ("reading", "encoding")
    assert post(client, "/kb/index", {}).json["again"]
    embedder.gate.set()
    assert renewed(client)["number"] >= 2
    assert client.get("/status").json["index"]["kb_version"] != before


def test_replace_take_out_and_bring_back(client, home):
    put(client, "a.txt", b"one")
    assert put(client, "a.txt", b"two").json["error"] == "file_taken"
    assert put(client, "a.txt", b"two").status == 409
    replaced = put(client, "a.txt", b"two", "?replace=1")
    assert replaced.status == 200
    removed = client.send("DELETE", "/kb/files/a.txt").json
    assert not (home / "knowledge_base" / "a.txt").exists()
    kept = client.get("/kb.json").json["removed"]
    assert {entry["id"] for entry in kept} == {removed["removed"], replaced.json["replaced"]}
    assert post(client, "/kb/restore", {"id": replaced.json["replaced"]}).json["file"] == "a.txt"
    assert (home / "knowledge_base" / "a.txt").read_bytes() == b"one"
    assert post(client, "/kb/restore", {"id": removed["removed"]}).status == 409
    assert client.send("DELETE", "/kb/files/no.txt").status == 404


def test_what_deserves_a_second_look(client):
    put(client, "a.txt", TEXT.encode())
    put(client, "b.txt", "Отпуск длится 28 дней.".encode())
    put(client, "c.pdf", b"no pdf at all")
    renewed(client)
    assert files(client)["c.pdf"]["state"] == "skipped"
    assert files(client)["c.pdf"]["reason"]
    review = client.get("/kb/review.json").json
    assert {file["file"]: file["tokens"] for file in review["files"]} == {"a.txt": 13, "b.txt": 5}
    assert [(block["topic"], block["tokens"]) for block in review["large"]] == [("Пароль", 8)]
    assert [sorted(one["file"] for one in group) for group in review["duplicates"]] == [["a.txt", "b.txt"]]
    chunks = client.get("/kb/chunks?file=a.txt").json["chunks"]
    assert [chunk["title"] for chunk in chunks] == ["Отпуск", "Пароль"]
    assert client.get("/kb/chunks?file=no.txt").status == 404
    judged = client.get(f"/debug/search?q={quote('пароль')}&chunk={chunks[1]['chunk_id']}").json["standing"]
    assert judged["title"] == "Пароль"


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("../otvet.toml", 400, "file_name"),
        ("%2e%2e/otvet.txt", 400, "file_name"),
        ("a/%2e%2e/%2e%2e/b.txt", 400, "file_name"),
        ("вирус.exe", 400, "file_name"),
        ("con.txt", 400, "file_name"),
        ("sources.toml", 400, "file_name"),
    ],
)
def test_names_are_held_to_the_folder(client, home, name, status, code):
    """Case 33."""
    answered = client.send("PUT", f"/kb/files/{quote(name, safe='%/.')}", b"x", {})
    assert (answered.status, answered.json["error"]) == (status, code)
    assert sorted(path.name for path in home.iterdir()) in (
        ["knowledge_base"],
        ["embeddings", "knowledge_base"],
    )


def test_a_body_over_the_limit_and_an_empty_one_are_refused(client, home):
    assert put(client, "a.txt", b"x" * (UPLOAD_LIMIT + 1)).json["error"] == "body_too_large"
    assert put(client, "a.txt", b"").json["error"] == "invalid_request"
    assert not (home / "knowledge_base" / "a.txt").exists()


def test_a_body_may_be_larger_than_a_question(client, home):
    assert put(client, "a.txt", b"x" * (2 << 20)).status == 201


def test_a_page_of_another_site_can_change_nothing(client, home):
    put(client, "a.txt", b"one")
    evil = {"Origin": "https://evil.example"}
    site = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
    for headers in (evil, site, {"Origin": "null"}):
        assert put(client, "b.txt", b"x", **headers).status == 403
        assert client.send("DELETE", "/kb/files/a.txt", None, headers).status == 403
        for path in ("/kb/index", "/kb/restore"):
            assert client.send("POST", path, b"{}", headers).status == 403
    # A form of our own page would have to send a type that is not JSON.
    own = {"Origin": f"http://127.0.0.1:{client.port}", "Content-Type": "text/plain"}
    assert client.send("POST", "/kb/index", b"{}", own).status == 415
    assert sorted(path.name for path in (home / "knowledge_base").iterdir()) == ["a.txt"]


def test_without_an_index_the_files_are_shown_all_the_same(client):
    put(client, "a.txt", b"one")
    found = client.get("/kb.json").json
    assert (found["kb_version"], found["current"]) == ("", False)
    found = client.get("/kb/review.json").json
    assert (found["kb_version"], found["files"], found["duplicates"]) == ("", [], [])


def test_opinions_are_kept_and_exported(client, home):
    opinion = {"question": "Сколько дней?", "verdict": "good", "files": ["a.md"], "comment": "да"}
    assert post(client, "/feedback", opinion).status == 201
    assert post(client, "/feedback", opinion | {"question": "борщ", "outcome": "not_found"}).status == 201
    kept = (home / "feedback.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(kept[0])["comment"] == "да"
    answered = client.get("/feedback/export")
    assert answered.header("Content-Disposition").startswith("attachment;")
    found = [json.loads(line) for line in answered.body.splitlines()]
    assert [(line["question"], line["files"]) for line in found] == [
        ("Сколько дней?", ["a.md"]),
        ("борщ", []),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"question": ""},
        {"question": 7},
        {"verdict": "maybe"},
        {"verdict": None},
        {"files": "a.md"},
        {"files": [1]},
        {"comment": "x" * 2001},
    ],
)
def test_an_opinion_that_cannot_be_read_is_refused(client, home, changes):
    opinion = {"question": "a", "verdict": "good"} | changes
    assert post(client, "/feedback", opinion).json["error"] == "invalid_request"
    assert not (home / "feedback.jsonl").exists()


def test_the_contract_names_every_body(client):
    paths = client.get("/openapi.json").json["paths"]
    bodies = {
        (path, method): next(iter(operation["requestBody"]["content"].items()))
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "requestBody" in operation
    }
    assert bodies["/kb/files/{path}", "put"][0] == "application/octet-stream"
    assert bodies["/login", "post"][0] == "application/x-www-form-urlencoded"
    assert bodies["/feedback", "post"][1]["schema"]["$ref"].endswith("/Opinion")
    assert bodies["/ask", "post"][1]["schema"]["$ref"].endswith("/Question")
    assert ("/kb/files/{path}", "delete") not in bodies


def test_another_site_has_no_opinion(client, home):
    answered = client.send("POST", "/feedback", b'{"question": "a", "verdict": "good"}', {"Origin": "null"})
    assert answered.status == 403
    assert not (home / "feedback.jsonl").exists()
