"""Whose turn it is."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.generators.fair_queue import FairQueue


def _filled(*items: str) -> FairQueue[str]:
    queue: FairQueue[str] = FairQueue()
    for item in items:
        queue.push(item[0], item)
    return queue


def _drain(queue: FairQueue[str]) -> list[str]:
    return [queue.pop() for _ in range(len(queue))]


def test_clients_take_turns() -> None:
    assert _drain(_filled("a1", "a2", "a3", "b1", "c1", "b2")) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_a_client_that_was_served_goes_to_the_end() -> None:
    queue = _filled("a1", "a2", "b1")
    assert queue.pop() == "a1"
    queue.push("c", "c1")
    assert _drain(queue) == ["b1", "a2", "c1"]


def test_removed_items_are_not_served() -> None:
    queue = _filled("a1", "b1", "b2")
    assert queue.remove("b1")
    assert not queue.remove("b1")
    assert queue.remove("a1")
    assert _drain(queue) == ["b2"]
    with pytest.raises(IndexError):
        queue.pop()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers()), unique=True))
def test_the_promised_order_is_the_order_of_service(items) -> None:
    queue: FairQueue[tuple[str, int]] = FairQueue()
    for item in items:
        queue.push(item[0], item)
    promised = queue.order()
    assert [queue.pop() for _ in range(len(queue))] == promised
    assert sorted(promised) == sorted(items)
    for client in "abc":
        own = [item for item in items if item[0] == client]
        assert [item for item in promised if item[0] == client] == own


def test_an_item_may_be_removed_in_the_middle_of_taking_one() -> None:
    queue = _filled("a1", "b1")

    class Line(deque[str]):
        def popleft(self) -> str:
            item = super().popleft()
            queue.remove("b1")  # as the garbage collector would
            return item

    queue._lines["a"] = Line(queue._lines["a"])
    assert queue.pop() == "a1"
    with pytest.raises(IndexError):
        queue.pop()
    queue.push("a", "a2")
    assert queue.pop() == "a2"
