"""``/classify`` over both servers: labels only, in the background, bit by bit, fair, repeatable."""

from __future__ import annotations

import json
import threading

import pytest
from scripted_service import ScriptedService
from speaking_service import QUESTION, SPOKEN, speaking, until

from pipeline.classify import classifier
from pipeline.errors import GeneratorError, GeneratorMissingError
from pipeline.generators.scripted import ScriptedGenerator
from pipeline.settings import ServerSettings, Settings

KEYS = [
    *("id", "state", "done", "total", "estimate_s", "poll_after_s", "model", "results"),
    *("failure", "request_id", "status"),
]
RESULT_KEYS = ["n", "outcome", "label", "probability", "none", "probabilities", "cut", "failure"]
LABELS = ["Счёт", "Жалоба", "Доставка"]
TEXTS = ["Выставьте счёт, пожалуйста.", "Жалоба на курьера", "Где доставка?", "Добрый день"]


def by_first_word(messages):
    """The scripted model: names the label whose stem the text holds."""
    text = messages[-1].content.lower()
    if "отпуск" in text:
        return SPOKEN
    return next((label for label in LABELS if label.lower()[:4] in text), "Другое")


class Labeller(ScriptedGenerator):
    """Scores a text only when it may; looks all the while whether it was cancelled."""

    def __init__(self):
        super().__init__(by_first_word)
        self.steps = threading.Semaphore(0)
        self.free = False
        self.order = []
        self.fail = False

    def score(self, messages, continuations, cancelled):
        while not self.free and not self.steps.acquire(timeout=0.005):
            if cancelled():
                return ()
        self.order.append(messages[-1].content)
        if self.fail:
            raise GeneratorError(reason="scripted failure")
        return super().score(messages, continuations, cancelled)

    def generate(self, messages, sampling, cancelled):
        self.order.append("ask")
        yield from super().generate(messages, sampling, cancelled)


@pytest.fixture
def generator():
    return Labeller()


@pytest.fixture
def client(start, tmp_path, generator):
    with speaking(tmp_path, generator, places=2) as service:
        yield start(service, Settings(server=ServerSettings(queue_size=2)))


def classify(client, fields=None, **headers):
    return client.ask({"labels": LABELS, "texts": TEXTS} | (fields or {}), "/classify", **headers)


def state(client, batch_id):
    answered = client.get(f"/classify/{batch_id}")
    assert answered.status == 200
    assert list(answered.json) == KEYS
    assert answered.json["status"] == "ok"
    return answered.json


def finished(client, batch_id):
    until(lambda: state(client, batch_id)["poll_after_s"] is None)
    return state(client, batch_id)


def test_every_text_gets_its_label_or_none(client, generator):
    generator.free = True
    accepted = classify(client)
    assert accepted.status == 202
    assert list(accepted.json) == KEYS
    found = finished(client, accepted.json["id"])
    assert (found["state"], found["done"], found["total"]) == ("done", 4, 4)
    assert found["model"] == "scripted"
    assert [result["label"] for result in found["results"]] == ["Счёт", "Жалоба", "Доставка", None]
    assert [result["outcome"] for result in found["results"]] == ["label"] * 3 + ["none"]
    for n, result in enumerate(found["results"], 1):
        assert list(result) == RESULT_KEYS
        assert result["n"] == n
        assert [pair["label"] for pair in result["probabilities"]] == LABELS
        total = result["none"] + sum(pair["probability"] for pair in result["probabilities"])
        assert total == pytest.approx(1, abs=0.001)


def test_results_come_one_by_one(client, generator):
    batch_id = classify(client).json["id"]
    first = state(client, batch_id)
    assert (first["state"], first["done"], first["estimate_s"], first["results"]) == ("queued", 0, None, [])
    generator.steps.release()
    until(lambda: state(client, batch_id)["done"] == 1)
    second = state(client, batch_id)
    assert (second["state"], second["results"][0]["label"]) == ("running", "Счёт")
    assert second["estimate_s"] >= 0
    assert 1 <= second["poll_after_s"] <= 10
    generator.free = True
    assert finished(client, batch_id)["estimate_s"] is None


def test_what_is_given_up_keeps_what_was_done(client, generator):
    batch_id = classify(client).json["id"]
    generator.steps.release(2)
    until(lambda: state(client, batch_id)["done"] == 2)
    answered = client.send("DELETE", f"/classify/{batch_id}")
    assert (answered.status, answered.json["state"], answered.json["done"]) == (200, "cancelled", 2)
    assert answered.json["failure"]["error"] == "cancelled"
    # The line is free at once.
    generator.free = True
    assert (
        client.ask({"question": QUESTION, "use_RAG": True, "format": False}).json["answer"].startswith(SPOKEN)
    )
    assert len(generator.order) == 3


def test_a_question_of_another_client_waits_for_one_text_only(client, generator):
    batch_id = classify(client, X_Client="пачка".encode().decode("latin-1")).json["id"]
    asked = {"question": QUESTION, "use_RAG": True, "format": False}
    body = json.dumps(asked).encode()
    connection = client.connect()
    head = f"POST /ask HTTP/1.1\r\nHost: localhost\r\nX-Client: other\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
    until(lambda: client.get("/status").json["generator"]["waiting"] == 1)
    generator.free = True
    assert client.receive(connection).json["answer"].startswith(SPOKEN)
    finished(client, batch_id)
    assert generator.order.index("ask") == 1


def test_a_full_line_stops_no_batch(client, generator, monkeypatch):
    monkeypatch.setattr(classifier, "RETRY_S", 0.01)
    ids = [classify(client, X_Client=f"c{n}").json["id"] for n in range(5)]
    generator.free = True
    assert {finished(client, one)["state"] for one in ids} == {"done"}


def test_the_ninth_batch_is_told_to_come_back(client, generator):
    for n in range(8):
        assert classify(client, X_Client=f"c{n}").status == 202
    refused = classify(client)
    assert (refused.status, refused.json["error"]) == (503, "busy")
    assert int(refused.header("Retry-After")) >= 1


def test_equal_texts_are_read_once_and_empty_ones_not_at_all(client, generator):
    generator.free = True
    texts = ["Счёт на бумагу", "", "Счёт на бумагу", " \n\t", " Счёт на бумагу\n"]
    found = finished(client, classify(client, {"texts": texts}).json["id"])["results"]
    assert [result["label"] for result in found] == ["Счёт", None, "Счёт", None, "Счёт"]
    assert [result["none"] for result in found] == [
        found[0]["none"],
        1,
        found[0]["none"],
        1,
        found[0]["none"],
    ]
    assert generator.order == ["Счёт на бумагу"]


def test_a_long_text_is_judged_by_its_beginning(client, generator):
    generator.free = True
    long = "Счёт " * 5000
    found = finished(client, classify(client, {"texts": long[:20_000]}).json["id"])["results"]
    assert (found[0]["label"], found[0]["cut"]) == ("Счёт", True)
    assert len(generator.order[0].split()) == 400


def test_without_none_a_label_always_comes_out(client, generator):
    generator.free = True
    found = finished(client, classify(client, {"none": False}).json["id"])["results"]
    assert [result["outcome"] for result in found] == ["label"] * 4
    assert all(result["none"] == 0 for result in found)


@pytest.mark.parametrize(
    ("threshold", "outcome"), [(0, "label"), (0.5, "label"), (0.99999, "none"), (1, "none")]
)
def test_a_threshold_of_ones_own(client, generator, threshold, outcome):
    generator.free = True
    fields = {"texts": "Счёт на бумагу", "threshold": threshold}
    assert finished(client, classify(client, fields).json["id"])["results"][0]["outcome"] == outcome


def test_the_prompt_reaches_the_model(client, generator):
    generator.free = True
    fields = {"prompt": "Счёт — это просьба выставить счёт.", "texts": ["Счёт"]}
    finished(client, classify(client, fields).json["id"])
    system, *turns, user = generator.calls[0]
    assert "просьба выставить" in system.content
    assert all(label in system.content for label in LABELS)
    assert [turn.content for turn in turns[1::2]] == [*LABELS, "Другое"]
    assert user.content == "Счёт"


def test_examples_reach_the_model(client, generator):
    generator.free = True
    examples = [{"text": "Выпишите на оплату", "label": "Счёт"}, {"text": "Привет!", "label": None}]
    finished(client, classify(client, {"examples": examples, "texts": ["Счёт"]}).json["id"])
    turns = [message.content for message in generator.calls[0][1:-1]]
    assert turns[-4:] == ["Выпишите на оплату", "Счёт", "Привет!", "Другое"]


def test_an_engine_that_fails_costs_one_text(client, generator):
    generator.fail = True
    generator.steps.release()
    batch_id = classify(client).json["id"]
    until(lambda: state(client, batch_id)["done"] == 1)
    generator.fail = False
    generator.free = True
    found = finished(client, batch_id)
    assert (found["state"], found["results"][0]["outcome"]) == ("done", "failed")
    assert found["results"][0]["failure"]["error"] == "generator"
    assert [result["label"] for result in found["results"][1:]] == ["Жалоба", "Доставка", None]


def test_labels_that_leave_no_room_fail_the_batch(start, tmp_path):
    generator = ScriptedGenerator(by_first_word, context_tokens=100)
    with speaking(tmp_path, generator) as service:
        client = start(service)
        found = finished(client, classify(client, {"prompt": "слово " * 100}).json["id"])
    assert (found["state"], found["failure"]["error"]) == ("failed", "prompt_too_long")


def test_whoever_waits_is_answered_at_the_end_or_in_time(client, generator):
    """1C has no pause: the server holds the reply back instead."""
    batch_id = classify(client).json["id"]
    early = client.get(f"/classify/{batch_id}?wait=0.05").json
    assert (early["state"], early["done"]) == ("queued", 0)
    connection = client.connect()
    connection.sendall(f"GET /classify/{batch_id}?wait=20 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    generator.free = True
    assert client.receive(connection, "GET").json["state"] == "done"
    assert client.get(f"/classify/{batch_id}?wait=25").json["done"] == 4


def test_too_many_who_wait_are_answered_at_once(client, generator):
    batch_id = classify(client).json["id"]
    waiting = [client.connect() for _ in range(8)]
    for connection in waiting:
        line = f"GET /classify/{batch_id}?wait=20 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        connection.sendall(line.encode())
    # Which of them were first is not known; none is refused, and short requests pass.
    assert client.get("/health").status == 200
    assert client.get("/status").status == 200
    generator.free = True
    assert {client.receive(connection, "GET").status for connection in waiting} == {200}


@pytest.mark.parametrize("wait", ["26", "-1", "x", "1e1", "nan", "99999"])
def test_a_wait_that_cannot_be_used_is_refused(client, wait):
    batch_id = classify(client).json["id"]
    answered = client.get(f"/classify/{batch_id}?wait={wait}")
    assert (answered.status, answered.json["error"]) == (400, "invalid_request")
    assert "wait" in answered.json["message"]


def test_fifty_retries_under_one_key_are_one_batch(client, generator):
    ids = {classify(client, Idempotency_Key="k").json["id"] for _ in range(50)}
    assert len(ids) == 1
    generator.free = True
    finished(client, ids.pop())
    again = classify(client, Idempotency_Key="k").json
    assert (again["state"], again["done"], len(generator.order)) == ("done", 4, 4)
    conflict = classify(client, {"texts": ["другой"]}, Idempotency_Key="k")
    assert (conflict.status, conflict.json["error"]) == (409, "idempotency_conflict")


def test_the_same_request_gives_the_same_results(client, generator):
    generator.free = True
    runs = [finished(client, classify(client).json["id"])["results"] for _ in range(2)]
    assert runs[0] == runs[1]


class WithoutModel(ScriptedService):
    def classify(self, request, cancelled):
        raise GeneratorMissingError


def test_a_profile_without_a_model_says_what_to_do(start):
    answered = classify(start(WithoutModel()))
    assert (answered.status, answered.json["error"]) == (501, "generator_missing")
    assert "otvet models install" in answered.json["hint"]
    assert answered.header("Retry-After") is None


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"labels": None}, "labels"),
        ({"texts": None}, "texts"),
        ({"labels": []}, "labels"),
        ({"texts": []}, "texts"),
        ({"texts": ["а"] * 201}, "texts"),
        ({"labels": [f"л{n}" for n in range(51)]}, "labels"),
        ({"labels": ["а", " "]}, "labels[2]"),
        ({"labels": ["Счёт", "счёт"]}, "labels[2]"),
        ({"labels": ["а" * 101]}, "labels[1]"),
        ({"labels": [5]}, "labels[1]"),
        ({"texts": ["а", 5]}, "texts[2]"),
        ({"texts": [None]}, "texts[1]"),
        ({"texts": ["а" * 20_001]}, "texts[1]"),
        ({"texts": {"а": "б"}}, "texts"),
        ({"prompt": 5}, "prompt"),
        ({"prompt": "а" * 4001}, "prompt"),
        ({"none": "да"}, "none"),
        ({"examples": "Счёт"}, "examples"),
        ({"examples": ["Счёт"]}, "examples[1]"),
        ({"examples": [{"text": "а", "label": "Кража"}]}, "examples[1].label"),
        ({"examples": [{"text": " ", "label": "Счёт"}]}, "examples[1].text"),
        ({"examples": [{"label": "Счёт"}]}, "examples[1].text"),
        ({"examples": [{"text": "а", "label": 5}]}, "examples[1].label"),
        ({"examples": [{"text": "а" * 2001, "label": None}]}, "examples[1].text"),
        ({"examples": [{"text": "а", "label": None}] * 51}, "examples"),
        ({"threshold": 1.5}, "threshold"),
        ({"threshold": "0.5"}, "threshold"),
        ({"threshold": True}, "threshold"),
    ],
)
def test_a_field_that_cannot_be_used_is_named(standing, fields, named):
    answered = classify(standing, fields)
    assert (answered.status, answered.json["error"]) == (400, "invalid_request")
    assert f"«{named}»" in answered.json["message"] or named in answered.json["message"]


def test_null_means_the_default_and_unknown_fields_are_noted(client, generator):
    generator.free = True
    fields = dict.fromkeys(("prompt", "examples", "none", "threshold", "idempotency_key")) | {"tekst": 1}
    answered = classify(client, fields)
    assert answered.status == 202
    assert list(answered.json) == [*KEYS[:-1], "notes", "status"]
    assert "texts" in answered.json["notes"][0]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_unknown_batch_is_not_found(standing, method):
    answered = standing.send(method, "/classify/0123456789abcdef")
    assert (answered.status, answered.json["error"]) == (404, "batch_not_found")


def test_openapi_names_the_fields(standing):
    document = standing.get("/openapi.json").json
    assert document["components"]["schemas"]["Texts"]["required"] == ["labels", "texts"]
    assert set(document["paths"]["/classify"]["post"]["responses"]) == {"202", "default"}
    names = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(names) == len(set(names))
