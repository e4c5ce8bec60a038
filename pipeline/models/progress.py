"""How long work on models tells what it is doing."""

from __future__ import annotations

from typing import Literal, Protocol

from pipeline.ports import Progress

__all__ = ["Reporter", "SilentReporter", "Stage"]

Stage = Literal["wait", "download", "assemble", "check", "copy", "convert"]
"""``wait``: another process installs the same model. ``check``: bytes left by an earlier run are hashed."""


class Reporter(Protocol):
    """Shows stages of work, for example as one progress bar each."""

    def task(self, stage: Stage, what: str, total: int | None) -> Progress:
        """Begin a stage on a file or model; call the result with (done, total), mostly in bytes."""
        ...


class SilentReporter:
    """Shows nothing."""

    def task(self, stage: Stage, what: str, total: int | None) -> Progress:
        """Ignore the stage."""
        return lambda done, total: None
