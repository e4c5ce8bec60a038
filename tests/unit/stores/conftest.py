"""Tests of what is on the disk, without the wait for the disk."""

import os

import pytest


@pytest.fixture(autouse=True)
def no_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a power loss would cost cannot be tested here, and a killed process loses nothing."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
