"""From the sample knowledge base to an answered question, with the real models, over both servers."""

import json
import shutil
import urllib.request
from pathlib import Path
from threading import Thread

import pytest

import server_fastapi
import server_flask
from pipeline import bootstrap
from pipeline.settings import load_settings
from pipeline.web.serving import FastapiServer, FlaskServer, listen, spare_threads

pytestmark = pytest.mark.models

ROOT = Path(__file__).parents[2]
QUESTION = "На каком порту по умолчанию открывается страница Otvet?"


@pytest.fixture(scope="session")
def settings(models_folder, qwen_path, tmp_path_factory):
    """A home folder with the sample knowledge base, indexed."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(ROOT / "knowledge_base", home / "knowledge_base")
    settings = load_settings({"home": home, "profile": "embedded"}).settings
    report = bootstrap.build(settings)
    assert report is not None
    assert report.indexed + len(report.skipped) == report.found
    assert report.dropped_tokens == 0
    return settings


@pytest.fixture(scope="session")
def service(settings):
    service = bootstrap.create_service(settings)
    service.start(wait=True)
    yield service
    service.close()


@pytest.fixture(scope="session", params=["fastapi", "flask"])
def base_url(request, service, settings):
    socket = listen("127.0.0.1", 0)
    port = socket.getsockname()[1]
    if request.param == "fastapi":
        server = FastapiServer(server_fastapi.create_app(service, settings), socket)
    else:
        server = FlaskServer(server_flask.create_app(service, settings), socket, spare_threads(settings))
    thread = Thread(target=server.run)
    thread.start()
    yield f"http://127.0.0.1:{port}"
    server.stop()
    thread.join()


def post(url, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as response:
        return json.load(response)


def test_a_second_build_has_nothing_to_do(settings):
    assert bootstrap.build(settings) is None


def test_a_russian_question_is_answered_with_working_links(base_url):
    reply = post(f"{base_url}/ask", {"question": QUESTION, "use_RAG": True, "format": False})
    assert reply["status"] == "ok"
    assert list(reply)[:3] == ["question", "flags", "answer"]
    assert list(reply)[-1] == "status"
    assert reply["outcome"] in ("answered", "partial")
    assert "8000" in reply["answer"]
    assert "[1]" in reply["answer"] or "[2]" in reply["answer"] or "[3]" in reply["answer"]
    assert len(reply["sources"]) == 3
    for source in reply["sources"]:
        with urllib.request.urlopen(f"{base_url}/source/{source['chunk_id']}", timeout=30) as page:
            assert page.status == 200
            assert "<mark" in page.read().decode()


def test_a_question_foreign_to_the_base_is_refused_without_the_model(base_url):
    reply = post(f"{base_url}/ask", {"question": "Сколько минут варить гречку?", "use_RAG": True})
    assert reply["outcome"] == "not_found"
    assert reply["model"] == "extractive"


def test_the_second_input_needs_no_knowledge_base(base_url):
    body = {
        "question": "Какой это отдел?",
        "prompt": "Ответь одним словом, названием отдела.",
        "data": ["Письмо: прошу отпустить товар. Отдел продаж."],
        "format": False,
    }
    reply = post(f"{base_url}/ask", body)
    assert reply["outcome"] == "generated"
    assert "продаж" in reply["answer"].lower()
    assert reply["sources"] == []


def test_scores_of_every_stage_on_request(base_url):
    reply = post(f"{base_url}/ask", {"question": "порт сервера -s"})
    names = [stage["name"] for stage in reply["sources"][0]["stages"]]
    assert {"cosine", "bm25", "fusion", "late_interaction", "text_only"} <= set(names)


def test_the_handbook_answers_questions_about_itself(service):
    """At least 36 of 40 answerable questions find their file first (it was 36 when written)."""
    from pipeline.types import AskRequest

    lines = (ROOT / "tests/data/handbook.questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [question for question in map(json.loads, lines) if question["files"]]
    first = sum(
        service.ask(AskRequest(question=q["question"]), lambda: False).sources[0].file in q["files"]
        for q in questions
    )
    assert first >= 34
