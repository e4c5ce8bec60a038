"""Indexing killed at random moments: the old index serves on, and the next run continues (case 20)."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from index_killer import Killer, kill_and_recover, killing, write_knowledge_base
from indexing_process import SlowEmbedder, settings_for

from pipeline.errors import IndexMissingError
from pipeline.stores import encode, json_store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

KILLS = 50


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    with killing() as made:
        yield made


def test_every_kill_is_recovered(tmp_path: Path, killer: Killer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode, "_SLICE", 8)
    # Only what runs here: a killed process loses nothing that the system has taken.
    monkeypatch.setattr(os, "fsync", lambda _: None)
    tally = kill_and_recover(tmp_path, killer, KILLS, random.Random(20))
    assert tally.kills == KILLS
    assert tally.encoding > 0


def test_a_first_run_that_was_killed_leaves_no_index_and_is_continued(tmp_path: Path, killer: Killer) -> None:
    settings = settings_for(tmp_path)
    write_knowledge_base(settings, 0)
    killed, _ = killer.run(settings.home, 0.05)
    if killed:
        with pytest.raises(IndexMissingError):
            json_store.load(settings.embeddings)
    killed, _ = killer.run(settings.home, None)
    assert not killed
    json_store.load(settings.embeddings, SlowEmbedder().spec)
