"""Parts of the client by themselves: events, pauses, the choice of a replica, words of an error."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.remote.replicas import Replicas
from pipeline.remote.replies import NotJsonError, parsed, told
from pipeline.remote.retry import LONGEST_S, backoff_s, may_pass, retry_after_s
from pipeline.remote.server_events import EventTooLongError, event_data


def read(pieces, **limits):
    async def all_of():
        async def source():
            for piece in pieces:
                yield piece

        return [data async for data in event_data(source(), **limits)]

    return asyncio.run(all_of())


STREAM = (
    'data: {"a": "раз"}\r\n\r\n: ping\n\nevent: x\ndata: one\ndata:two\n\nid: 7\r\rdata: [DONE]\n\n'
).encode()


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_wherever_the_body_is_cut(cuts):
    pieces = [STREAM[a:b] for a, b in pairwise([0, *sorted(cuts), len(STREAM)])]
    assert read(pieces) == ['{"a": "раз"}', "one\ntwo", "[DONE]"]


def test_an_end_without_an_empty_line():
    assert read([b"data: a\n\ndata: b"]) == ["a", "b"]
    assert read([]) == []


@pytest.mark.parametrize("pieces", [[b"data: " + b"x" * 99], [b"data: x\n"] * 20, [b"x" * 50, b"x" * 50]])
def test_an_event_without_end(pieces):
    with pytest.raises(EventTooLongError):
        read(pieces, longest=40)


def test_a_body_without_end():
    with pytest.raises(EventTooLongError):
        read([b"data: x\n\n"] * 20, most=100)


NOW = datetime(2026, 11, 30, 5, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("3", 3.0),
        (" 120 ", 120.0),
        ("9" * 40, 10.0**6),
        ("Mon, 30 Nov 2026 05:00:07 GMT", 7.0),
        ("Mon, 30 Nov 2026 04:00:00 GMT", 0.0),
    ],
)
def test_retry_after(header, seconds):
    assert retry_after_s(header, NOW) == seconds


def test_pauses_grow_and_stay_bounded():
    chance = random.Random(1)
    most = [max(backoff_s(attempt, chance) for _ in range(200)) for attempt in range(12)]
    assert most[0] <= 0.25
    assert most[3] > most[0]
    assert max(most) <= LONGEST_S
    assert [status for status in range(400, 600) if may_pass(status)] == [408, 425, 429, 500, 502, 503, 504]


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_equals_take_turns_and_the_busy_wait():
    replicas = Replicas(["a", "b"], Clock())
    one, two = replicas.take(), replicas.take()
    assert {one.url, two.url} == {"a", "b"}
    replicas.served(one)
    assert replicas.take() is one


def test_one_that_fails_rests_longer_each_time():
    clock = Clock()
    replicas = Replicas(["a", "b"], clock)
    bad = replicas.take()
    replicas.failed(bad)
    for _ in range(3):
        other = replicas.take()
        assert other is not bad
        replicas.served(other)
    clock.now = 2.5
    replicas.failed(next(one for one in (replicas.take(), replicas.take()) if one is bad))
    assert max(one["rests_s"] for one in replicas.status()) == 4.0


def test_the_only_one_is_asked_though_it_rests_and_tried_ones_come_last():
    replicas = Replicas(["a"], Clock())
    replicas.failed(replicas.take(), 30)
    assert replicas.take().url == "a"
    several = Replicas(["a", "b"], Clock())
    assert several.take(tried=["a"]).url == "b"
    assert several.take(tried=["a", "b"]).url in ("a", "b")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"error": {"message": "no such model"}}', "no such model"),
        (b'{"error": "no such model"}', "no such model"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b'{"message": "x\\u0000\\ny"}', "x y"),
        (b"<h1>502</h1>", "<h1>502</h1>"),
        (b"\xff\xfe", ""),
        (b'{"error": {"message": "key sk-1 is wrong"}}', "key *** is wrong"),
    ],
)
def test_words_of_an_error(body, text):
    assert told(body, "sk-1") == text


@given(st.binary(max_size=200))
def test_any_body_is_an_object_or_none(body):
    with suppress(NotJsonError):
        assert isinstance(parsed(body), dict)
    assert told(body, "k").isprintable()
