"""OpenAI's chat completions over both servers; our own client is one of those that use it."""

from __future__ import annotations

import json

import pytest
from scripted_service import ScriptedService

from pipeline.errors import BusyError, GeneratorError

MESSAGES = [{"role": "system", "content": "x"}, {"role": "user", "content": "отпуск?"}]
ASKED = {"model": "otvet", "messages": MESSAGES}


def post(client, fields, path="/v1/chat/completions"):
    return client.send("POST", path, json.dumps(fields).encode(), {"Content-Type": "application/json"})


def chunks(body: bytes) -> list[object]:
    blocks = [block for block in body.decode().split("\n\n") if block and not block.startswith(":")]
    assert all(block.startswith("data: ") for block in blocks)
    assert blocks[-1] == "data: [DONE]"
    return [json.loads(block.removeprefix("data: ")) for block in blocks[:-1]]


def test_the_models(standing):
    listed = standing.get("/v1/models").json
    assert listed["object"] == "list"
    assert {one["object"] for one in listed["data"]} == {"model"}
    assert [one["id"] for one in listed["data"]] == ["otvet", "otvet-sources"]


def test_a_completion_with_its_sources(start):
    service = ScriptedService()
    reply = post(start(service), ASKED).json
    assert reply["object"] == "chat.completion"
    assert reply["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": service.answer}, "finish_reason": "stop"}
    ]
    assert reply["model"] == "otvet"
    assert reply["id"].startswith("chatcmpl-")
    assert reply["sources"][0]["file"] == "кадры/отпуск.md"
    assert reply["sources"][0]["link"].startswith("http://")
    assert reply["outcome"] == "answered"


def test_the_same_as_a_stream(start):
    """Nothing but the checked answer is ever sent as content; sources come first."""
    service = ScriptedService(answer="Отпуск длится  28 дней [1].\n\nЭто всё.", tokens=("Не ", "то."))
    answered = post(start(service), {**ASKED, "stream": True})
    assert answered.header("Content-Type") == "text/event-stream; charset=utf-8"
    found = chunks(answered.body)
    assert {chunk["object"] for chunk in found} == {"chat.completion.chunk"}
    assert len({chunk["id"] for chunk in found}) == 1
    assert found[0]["sources"][0]["file"] == "кадры/отпуск.md"
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in found) == service.answer
    ends = [chunk["choices"][0]["finish_reason"] for chunk in found]
    assert [end for end in ends if end] == ["stop"]
    assert len(found) > 5


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"messages": []}, 400),
        ({"messages": "отпуск?"}, 400),
        ({"messages": [{"role": "system", "content": "x"}]}, 400),
        ({"messages": [{"role": "user", "content": 5}]}, 400),
        ({"messages": [{"role": "user", "content": "-s -ce"}]}, 400),
        ({"messages": [None]}, 400),
        ({"stream": "yes"}, 400),
        ({"model": "gpt-4o"}, 404),
        ({"model": ["otvet"]}, 404),
    ],
)
def test_what_cannot_be_answered_is_said(standing, change, status):
    answered = post(standing, ASKED | change)
    assert answered.status == status, answered.json
    assert answered.json["message"]


def test_parts_of_a_message_and_no_model(standing):
    parts = [{"type": "image_url"}, {"type": "text", "text": "отпуск"}, {"type": "text", "text": "-k"}]
    reply = post(standing, {"messages": [{"role": "user", "content": parts}]}).json
    assert reply["choices"][0]["message"]["content"]


def test_an_error_before_the_first_chunk_is_a_status(start):
    client = start(ScriptedService(error=BusyError(waiting=8, retry_after_s=3)))
    answered = post(client, {**ASKED, "stream": True})
    assert (answered.status, answered.header("Retry-After")) == (503, "3")


def test_an_error_in_the_middle_is_told_in_the_stream(start):
    client = start(ScriptedService(error=GeneratorError(reason="x"), error_after=2))
    answered = post(client, {**ASKED, "stream": True})
    last = [block for block in answered.body.decode().split("\n\n") if block.startswith("data: ")][-1]
    assert json.loads(last.removeprefix("data: "))["error"] == "generator"
