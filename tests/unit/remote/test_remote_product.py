"""The whole product over a server of OpenAI's protocol: index, search, answer, and how it does without."""

from __future__ import annotations

import threading
import time

import pytest
from openai_stand_in import Problem, stand_in

from pipeline import bootstrap
from pipeline.cli import console
from pipeline.cli.models import profile_names
from pipeline.diagnosis import diagnose
from pipeline.errors import RemoteError, SettingsError
from pipeline.settings import Loaded, load_settings
from pipeline.stores import json_store
from pipeline.types import AskRequest

TEXTS = {
    "отпуск.md": "# Отпуск\n\nОтпуск длится 28 календарных дней. Заявление подают за две недели до начала.\n",
    "принтер.md": "# Принтер\n\nПринтер стоит в коридоре второго этажа. Бумагу берут у секретаря.\n",
    "пропуск.md": "# Пропуск\n\nПропуск выдаёт охрана. Потерянный пропуск восстанавливают за один день.\n",
}
ANSWER = "Отпуск длится 28 календарных дней [1]."


def never() -> bool:
    return False


@pytest.fixture
def home(tmp_path):
    base = tmp_path / "knowledge_base"
    base.mkdir()
    for name, text in TEXTS.items():
        (base / name).write_text(text, "utf-8")
    return tmp_path


def settings_of(home, server, **more):
    return load_settings(
        {
            "home": str(home),
            "models": str(home / "no-models"),
            "remote.embedder_url": server.url,
            "remote.embedder_model": "words",
            "remote.generator_url": server.url,
            "remote.generator_model": "speaker",
            "remote.retries": 0,
            **more,
        },
        environ={},
    ).settings


@pytest.fixture
def server():
    with stand_in(reply=lambda messages: ANSWER) as told:
        yield told


@pytest.fixture
def service(home, server):
    settings = settings_of(home, server)
    bootstrap.build(settings)
    made = bootstrap.create_service(settings)
    made.start(wait=True)
    yield made
    made.close()


def test_no_token_is_stored_and_words_find_the_sentence(home, service) -> None:
    index = json_store.load(home / "embeddings")
    assert index.manifest.embedder_id == "remote/words"
    assert all(len(index.tokens[row]) == 0 for row in range(len(index.chunks)))
    reply = service.ask(AskRequest(question="Сколько дней длится отпуск?"), never)
    assert reply.sources[0].file == "отпуск.md"
    assert "28 календарных дней" in reply.sources[0].quote


def test_the_server_writes_the_answer(service, server) -> None:
    reply = service.ask(AskRequest(question="Сколько дней длится отпуск?", use_rag=True), never)
    assert reply.model == "remote/speaker"
    assert "28 календарных дней" in reply.answer.text
    _, body = next(item for item in server.requests if item[0] == "/v1/chat/completions")
    assert body["model"] == "speaker"
    assert body["stream"] is True
    assert "Отпуск длится" in body["messages"][-1]["content"]


def test_several_answers_at_once(home, server) -> None:
    server.gate = threading.Event()
    settings = settings_of(home, server, **{"remote.generator_parallel": 3})
    bootstrap.build(settings)
    made = bootstrap.create_service(settings)
    made.start(wait=True)
    try:
        question = AskRequest(question="Сколько дней длится отпуск?", use_rag=True)
        replies = []
        threads = [
            threading.Thread(target=lambda: replies.append(made.ask(question, never))) for _ in range(5)
        ]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 20
        while server.open < 3 and time.monotonic() < until:
            time.sleep(0.01)
        status = made.status()["generator"]
        assert (status["parallel"], status["writing"]) == (3, 3)
        assert [replica["url"] for replica in status["replicas"]] == [server.url]
        server.gate.set()
        for thread in threads:
            thread.join(30)
        assert len(replies) == 5
        assert server.most == 3
    finally:
        made.close()


def test_a_generator_that_fails_costs_the_prose_and_comes_back(service, server) -> None:
    question = AskRequest(question="Сколько дней длится отпуск?", use_rag=True)
    for _ in range(4):  # more than a broken engine of our own would be forgiven
        server.problems.append(Problem(500, path="/v1/chat/completions"))
        reply = service.ask(question, never)
        assert reply.sources[0].file == "отпуск.md"
        assert reply.model != "remote/speaker"
        assert reply.notes
    assert service.ask(question, never).model == "remote/speaker"
    assert service.status()["generator"]["restarts"] == 0


def test_an_embedder_that_is_away_at_first(home, server) -> None:
    settings = settings_of(home, server)
    bootstrap.build(settings)
    away = settings_of(home, server, **{"remote.embedder_model": "other"})
    server.problems.append(Problem(503))
    made = bootstrap.create_service(away)
    with pytest.raises(RemoteError):
        made.start(wait=True)
    made.close()


def test_while_the_embedder_is_away_words_are_searched_for(service, server) -> None:
    server.problems.append(Problem(503, "no memory"))
    reply = service.ask(AskRequest(question="Кто выдаёт пропуск?"), never)
    assert reply.sources[0].file == "пропуск.md"
    assert any("найдено только по словам" in note for note in reply.notes)
    again = service.ask(AskRequest(question="Кто выдаёт пропуск?"), never)
    assert again.sources[0].file == "пропуск.md"
    assert again.notes == ()


def test_starting_over_a_known_index_asks_nothing(home, server) -> None:
    settings = settings_of(home, server)
    bootstrap.build(settings)
    before = len(server.requests)
    assert bootstrap.index_status(settings).is_current
    assert bootstrap.build(settings) is None
    made = bootstrap.create_service(settings)
    made.start(wait=True)
    made.close()
    assert len(server.requests) == before


def test_the_doctor_asks_every_server(home, server) -> None:
    with stand_in() as gone:
        pass
    settings = settings_of(home, server, **{"remote.generator_url": f"{server.url},{gone.url}"})
    bootstrap.build(settings)
    loaded = Loaded(settings=settings, origins={})
    found = {finding.detail: finding.state for finding in diagnose(loaded, "en")}
    assert found[f"speaker ({server.url})"] == "ok"
    assert found[f"words ({server.url})"] == "ok"
    assert any(gone.url in detail and state == "problem" for detail, state in found.items())


def test_no_model_is_installed_that_a_server_stands_in_for(home, server, monkeypatch) -> None:
    settings = settings_of(home, server, profile="embedded")
    monkeypatch.setattr(console, "settings", lambda: settings)
    assert profile_names() == ()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"remote.generator_url": "gpu:8080"}, "looks like"),
        ({"remote.generator_url": "ftp://gpu/v1"}, "looks like"),
        ({"remote.generator_url": "http://user:sk-1@gpu/v1"}, "generator_key"),
        ({"remote.generator_url": "http://gpu/v1?key=sk-1"}, "looks like"),
        ({"remote.generator_url": "http://gpu/v1"}, "generator_model"),
        ({"remote.embedder_url": "http://gpu/v1"}, "embedder_model"),
    ],
)
def test_an_address_that_cannot_be_used_is_told(home, values, words) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings({"home": str(home), **values}, environ={})
    assert words in caught.value.message("en")
    assert "sk-1" not in caught.value.message("en")


def test_one_address_several_addresses_and_the_environment(home) -> None:
    environ = {
        "OTVET_REMOTE__GENERATOR_URL": "http://one/v1, http://two:81/v1",
        "OTVET_REMOTE__GENERATOR_MODEL": "m",
        "OTVET_REMOTE__GENERATOR_KEY": "sk-secret",
    }
    chosen = load_settings({"home": str(home)}, environ=environ).settings.remote
    assert chosen.generator_url == ("http://one/v1", "http://two:81/v1")
    assert "sk-secret" not in repr(chosen)
    (home / "otvet.toml").write_text(
        '[remote]\nembedder_url = "http://x/v1"\nembedder_model = "m"\n', "utf-8"
    )
    assert load_settings({"home": str(home)}, environ={}).settings.remote.embedder_url == ("http://x/v1",)


def test_nothing_is_connected_to_unless_it_is_named(home, monkeypatch) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("a client was made")

    monkeypatch.setattr("pipeline.remote.client.RemoteClient.__init__", forbidden)
    settings = load_settings({"home": str(home), "profile": "search"}, environ={}).settings
    assert bootstrap.create_generator(settings) is None
    service = bootstrap.create_service(settings)
    service.close()
