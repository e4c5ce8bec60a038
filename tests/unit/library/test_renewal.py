"""Indexing in the background: one run at a time, its progress, its end."""

from __future__ import annotations

import threading
import time

import pytest

from pipeline.errors import IndexLockedError, OtvetError
from pipeline.library.renewal import Renewal


def until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.005)


def test_progress_and_the_end_are_seen():
    step, go_on = threading.Event(), threading.Event()

    def update(progress):
        progress(30, 120)
        step.set()
        assert go_on.wait(10)

    renewal = Renewal(update)
    assert renewal.view().phase == "idle"
    assert renewal.start().phase == "reading"
    assert step.wait(10)
    view = renewal.view()
    assert (view.phase, view.done, view.total, view.number) == ("encoding", 30, 120, 1)
    go_on.set()
    until(lambda: not renewal.view().running)
    assert (renewal.view().phase, renewal.view().report) == ("done", None)


def test_what_changes_during_a_run_leads_to_another_one():
    runs = []
    gates = [threading.Event(), threading.Event()]

    def update(_):
        runs.append(len(runs))
        assert gates[len(runs) - 1].wait(10)

    renewal = Renewal(update)
    renewal.start()
    until(lambda: len(runs) == 1)
    assert renewal.start().again
    assert renewal.start().again
    gates[0].set()
    until(lambda: len(runs) == 2)
    gates[1].set()
    until(lambda: not renewal.view().running)
    assert (len(runs), renewal.view().number, renewal.view().again) == (2, 2, False)


@pytest.mark.parametrize(
    ("raised", "code"),
    [(IndexLockedError(path="x", pid="1"), "index_locked"), (ValueError("bug"), "internal")],
)
def test_a_failure_is_told_and_the_next_run_may_go_well(raised, code):
    errors = [raised]

    def update(_):
        if errors:
            raise errors.pop()

    renewal = Renewal(update)
    renewal.start()
    until(lambda: not renewal.view().running)
    view = renewal.view()
    assert view.phase == "failed"
    assert isinstance(view.error, OtvetError)
    assert view.error.code == code
    renewal.start()
    until(lambda: not renewal.view().running)
    assert renewal.view().phase == "done"
