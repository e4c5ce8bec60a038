"""Requests to a server of OpenAI's protocol: what goes wrong with them, and what then."""

from __future__ import annotations

import random
import threading
import time
from contextlib import ExitStack

import pytest
from openai_stand_in import Problem, stand_in

from pipeline.errors import CancelledError, RemoteBrokenError, RemoteRefusedError, RemoteUnreachableError
from pipeline.remote.client import Patience, RemoteClient

KEY = "sk-very-secret-1234567890"
QUICK = Patience(connect_s=2, silence_s=2, whole_s=5, retries=2)
BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 50, "stream": True}


class _NoPause(random.Random):
    def uniform(self, a, b):
        return 0.0


@pytest.fixture
def asked():
    with ExitStack() as stack:

        def client(*urls, patience=QUICK, key=""):
            made = RemoteClient(urls, key=key, patience=patience, chance=_NoPause())
            stack.callback(made.close)
            return made

        yield client


def wait_until(true, seconds=10.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def content(events):
    return "".join(event["choices"][0]["delta"].get("content") or "" for event in events)


def test_an_object_is_fetched_and_a_stream_read(asked):
    with stand_in(reply=lambda messages: "раз два три") as server:
        client = asked(server.url, key=KEY)
        assert client.call("/models")["data"][0]["id"] == "stand-in"
        assert client.call("//tokenize", {"content": "a b"})["tokens"] == [0, 1]
        assert content(client.stream("/chat/completions", BODY)) == "раз два три"
        assert server.keys == [f"Bearer {KEY}"] * 3


def test_an_address_without_a_path_gets_v1(asked):
    with stand_in() as server:
        assert asked(server.url.removesuffix("/v1") + "/").call("/models")


@pytest.mark.parametrize("status", [0, 429, 500, 503])
def test_what_may_pass_is_tried_again(asked, status):
    with stand_in(problems=[Problem(status), Problem(status)]) as server:
        assert asked(server.url).call("/models")
        assert len(server.requests) == 3


def test_not_for_ever(asked):
    with stand_in(problems=[Problem(503, "loading model")] * 3) as server:
        with pytest.raises(RemoteRefusedError) as caught:
            asked(server.url).call("/models")
        assert len(server.requests) == 3
        assert caught.value.values["http"] == 503
        assert "loading model" in caught.value.message("en")
        assert server.url in caught.value.message("ru")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 501])
def test_what_no_other_try_helps_is_told_at_once(asked, status):
    with stand_in(problems=[Problem(status, f"bad key {KEY}\n\x1b[31mred")]) as server:
        with pytest.raises(RemoteRefusedError) as caught:
            asked(server.url, key=KEY).call("/models")
        assert len(server.requests) == 1
        shown = caught.value.message("en")
        assert KEY not in shown
        assert "bad key ***" in shown
        assert shown.isprintable()


def test_retry_after_is_honoured(asked):
    with stand_in(problems=[Problem(429, headers={"Retry-After": "1"})]) as server:
        begun = time.monotonic()
        assert asked(server.url).call("/models")
        assert time.monotonic() - begun >= 1  # at least, however slow the machine


def test_nobody_there(asked):
    with stand_in() as server:
        gone = server.url
    with pytest.raises(RemoteUnreachableError) as caught:
        asked(gone).call("/models")
    assert gone in caught.value.hint("en")


def test_silence_is_an_error_with_a_limit(asked):
    with stand_in(gate=threading.Event()) as server:
        client = asked(server.url, patience=Patience(silence_s=0.2, retries=0))
        with pytest.raises(RemoteUnreachableError) as caught:
            list(client.stream("/chat/completions", BODY))
        assert "timed out" in caught.value.message("en")


@pytest.mark.parametrize("body", [b"<html>", b"[1]", b"\xff", b"", b'{"a": NaN}'])
def test_a_body_that_is_no_object(asked, body):
    with stand_in(problems=[Problem(200, body=body)]) as server, pytest.raises(RemoteBrokenError):
        asked(server.url).call("/models")


def test_a_body_without_end(asked, monkeypatch):
    monkeypatch.setattr("pipeline.remote.client._LARGEST_REPLY", 1000)
    problem = Problem(200, body=b'"' + b"x" * 5000 + b'"')
    with stand_in(problems=[problem]) as server, pytest.raises(RemoteBrokenError):
        asked(server.url).call("/models")


def test_a_redirect_is_not_followed(asked):
    with (
        stand_in() as other,
        stand_in(problems=[Problem(302, headers={"Location": f"{other.url}/x"})]) as server,
    ):
        with pytest.raises(RemoteRefusedError) as caught:
            asked(server.url, key=KEY).call("/models")
        assert other.url in caught.value.message("en")
        assert not other.requests


def test_a_stream_that_has_begun_is_not_sent_twice(asked):
    with stand_in(reply=lambda messages: "a b c d", problems=[Problem(0, after=2)]) as server:
        events = list(asked(server.url).stream("/chat/completions", BODY))
        assert content(events) == "a b"  # whoever reads it notices that its end is missing
        assert len(server.requests) == 1


def test_cancelled_closes_the_connection_at_once(asked):
    with stand_in(gate=threading.Event()) as server:
        client = asked(server.url, patience=Patience())
        events = client.stream("/chat/completions", BODY, lambda: server.open > 0)
        assert len(list(events)) <= 1  # ends without an error, though no token has come
        wait_until(lambda: server.dropped == 1)


def test_leaving_closes_the_connection_at_once(asked):
    gate = threading.Event()
    with stand_in(gate=gate) as server:
        events = asked(server.url, patience=Patience()).stream("/chat/completions", BODY)
        next(events)
        assert server.open == 1
        events.close()
        wait_until(lambda: server.dropped == 1)
        assert server.open == 0


def test_a_call_that_is_cancelled(asked):
    with stand_in(problems=[Problem(503, headers={"Retry-After": "20"})]) as server:
        client = asked(server.url, patience=Patience())
        with pytest.raises(CancelledError):
            client.call("/models", None, lambda: len(server.requests) > 0)


def test_the_least_busy_replica_is_asked(asked):
    gate = threading.Event()
    with stand_in(gate=gate) as one, stand_in(gate=gate) as two:
        client = asked(one.url, two.url, patience=Patience())
        streams = [client.stream("/chat/completions", BODY) for _ in range(4)]
        for stream in streams:
            next(stream)
        assert (one.open, two.open) == (2, 2)
        assert [replica["running"] for replica in client.status()] == [2, 2]
        gate.set()
        for stream in streams:
            assert list(stream)


def test_a_replica_that_fails_is_left_out_and_comes_back(asked, monkeypatch):
    monkeypatch.setattr("pipeline.remote.replicas.REST_S", 0.3)
    with stand_in() as one, stand_in() as two:
        client = asked(one.url, two.url)
        one.problems.extend([Problem(500)])
        for _ in range(6):
            assert client.call("/models")
        before = len(one.requests)
        assert len(two.requests) >= 4
        wait_until(lambda: not any(replica["rests_s"] for replica in client.status()))
        for _ in range(4):
            assert client.call("/models")
        assert len(one.requests) > before


def test_a_replica_that_is_gone_costs_no_request(asked):
    with stand_in() as gone:
        pass
    with stand_in() as there:
        client = asked(gone.url, there.url, patience=Patience(retries=1))
        for _ in range(5):
            assert client.call("/models")
        assert len(there.requests) == 5


def test_closed_twice_and_in_the_middle(asked):
    with stand_in(gate=threading.Event()) as server:
        client = asked(server.url, patience=Patience())
        events = client.stream("/chat/completions", BODY)
        next(events)
        client.close()
        assert list(events) == []
        client.close()
        wait_until(lambda: server.open == 0)
