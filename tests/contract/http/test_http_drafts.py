"""Drafts of known questions over both servers: made, accepted, dropped, brought back."""

from __future__ import annotations

import json
import time

import pytest

from pipeline import bootstrap
from pipeline.embedders.hash import HashEmbedder
from pipeline.evaluation.questions import read_questions
from pipeline.generators.scripted import ScriptedGenerator
from pipeline.indexing import EmbedderSource
from pipeline.settings import Settings

TEXTS = {
    "отпуск.md": "# Отпуск\n\nОтпуск длится 28 дней у каждого сотрудника.\n",
    "пропуск.md": "# Как получить пропуск\n\nЗа пропуском приходят утром к охране завода.\n",
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    embedder = HashEmbedder()
    source = EmbedderSource(embedder.spec.id, embedder.spec.prefix_scheme, lambda: embedder)
    said = lambda messages: f"{'Сколько длится отпуск?' if 'Отпуск' in messages[-1].content else 'нет'}"  # noqa: E731
    monkeypatch.setattr(bootstrap, "create_embedder", lambda _: embedder)
    monkeypatch.setattr(bootstrap, "embedder_source", lambda _: source)
    monkeypatch.setattr(bootstrap, "create_generator", lambda _: lambda: ScriptedGenerator(said))
    (tmp_path / "knowledge_base").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "knowledge_base" / name).write_text(text, "utf-8")
    bootstrap.build(Settings(home=tmp_path))
    return tmp_path


@pytest.fixture
def client(home, start):
    settings = Settings(home=home)
    service = bootstrap.create_service(settings)
    service.start(wait=True)
    yield start(service, settings)
    service.close()


def post(client, path, fields):
    return client.send("POST", path, json.dumps(fields).encode(), {"Content-Type": "application/json"})


def made(client, **wanted):
    assert post(client, "/eval/make", wanted).status == 202
    for _ in range(500):
        found = client.get("/eval.json").json
        if found["making"]["phase"] != "making":
            assert found["making"]["phase"] == "done", found
            return found
        time.sleep(0.02)
    raise AssertionError("no drafts were made")


def test_the_page_and_nothing_yet(client):
    assert b"data-text" in client.get("/eval").body
    found = client.get("/eval.json").json
    assert (found["drafts"], found["dropped"], found["accepted"]) == ([], [], 0)
    assert found["making"]["phase"] == "idle"
    assert found["model"] is True


def test_drafts_of_sentences_and_headings(client):
    found = made(client, count=5, foreign=1, model=False)
    drafts = {draft["files"][0] if draft["files"] else "": draft for draft in found["drafts"]}
    assert drafts["отпуск.md"]["question"] == "Отпуск длится сколько дней у каждого сотрудника?"
    assert drafts["отпуск.md"]["answer_any"] == ["28 дней"]
    assert drafts["пропуск.md"]["question"] == "Как получить пропуск?"
    assert drafts[""]["kind"] == "unanswerable_far"
    assert made(client, count=5, foreign=0, model=False)["making"]["made"] == 0  # nothing is proposed twice


def test_drafts_in_the_words_of_the_model_where_they_are_of_use(client):
    drafts = {draft["files"][0]: draft for draft in made(client, count=5, foreign=0)["drafts"]}
    assert (drafts["отпуск.md"]["question"], drafts["отпуск.md"]["made"]) == (
        "Сколько длится отпуск?",
        "model",
    )
    assert drafts["пропуск.md"]["made"] == "heading"


def test_accepted_as_edited_for_otvet_eval(client, home):
    (draft, other) = made(client, count=2, foreign=0, model=False)["drafts"]
    done = post(
        client,
        "/eval/accept",
        {
            "id": draft["id"],
            "question": " Сколько отдыхают? ",
            "answer_any": ["28 дней", " ", "четыре недели"],
        },
    )
    assert done.status == 200
    (known,) = read_questions(home / "questions.jsonl")
    assert (known.text, known.files) == ("Сколько отдыхают?", tuple(draft["files"]))
    assert known.answers == ("28 дней", "четыре недели")
    found = client.get("/eval.json").json
    assert [one["id"] for one in found["drafts"]] == [other["id"]]
    assert (found["accepted"], found["file"]) == (1, "questions.jsonl")
    back = post(client, "/eval/restore", {"id": draft["id"]})
    assert back.json["draft"]["question"] == "Сколько отдыхают?"
    assert client.get("/eval.json").json["accepted"] == 0


def test_dropped_and_brought_back(client):
    draft = made(client, count=1, foreign=0, model=False)["drafts"][0]
    assert post(client, "/eval/drop", {"id": draft["id"]}).status == 200
    found = client.get("/eval.json").json
    assert found["drafts"] == []
    assert [one["id"] for one in found["dropped"]] == [draft["id"]]
    assert post(client, "/eval/restore", {"id": draft["id"]}).json["draft"] == draft
    assert client.get("/eval.json").json["drafts"] == [draft]


@pytest.mark.parametrize(
    ("path", "fields", "status"),
    [
        ("/eval/accept", {"id": "nowhere"}, 404),
        ("/eval/drop", {}, 404),
        ("/eval/restore", {"id": "nowhere"}, 404),
        ("/eval/drop", {"id": 5}, 400),
        ("/eval/accept", {"id": "x", "question": "  "}, 400),
        ("/eval/accept", {"id": "x", "answer_any": "28"}, 400),
        ("/eval/accept", {"id": "x", "answer_any": ["2" * 500]}, 400),
        ("/eval/make", {"count": 0}, 400),
        ("/eval/make", {"count": 1000}, 400),
        ("/eval/make", {"foreign": True}, 400),
        ("/eval/make", {"model": "yes"}, 400),
    ],
)
def test_what_cannot_be_done_is_said(client, path, fields, status):
    answered = post(client, path, fields)
    assert answered.status == status, answered.json
    assert answered.json["status"] == "error"
    assert answered.json["message"]


def test_another_sites_page_changes_nothing(client):
    answered = client.send(
        "POST", "/eval/make", b"{}", {"Content-Type": "application/json", "Origin": "https://evil.example"}
    )
    assert answered.status == 403
