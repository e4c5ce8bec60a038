"""Indexing in the background of a server: one run at a time, with progress for whoever looks."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from pipeline.errors import OtvetError
from pipeline.ports import Progress

if TYPE_CHECKING:
    from pipeline.ingest.build import BuildReport

__all__ = ["Phase", "Renewal", "RenewalView"]

logger = logging.getLogger(__name__)

Phase = Literal["idle", "reading", "encoding", "done", "failed"]


@dataclass(frozen=True, slots=True)
class RenewalView:
    """A run at one moment.

    Attributes:
        number: Runs so far, this one included.
        done: Characters encoded.
        total: Characters to encode; 0 while files are read.
        seconds: For how long it has run, or did.
        report: What it came to; None where nothing had changed, and before the end.
        again: Another run follows, because something changed meanwhile.
    """

    phase: Phase = "idle"
    number: int = 0
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    report: BuildReport | None = None
    error: OtvetError | None = None
    again: bool = False

    @property
    def running(self) -> bool:
        """A run is at work."""
        return self.phase in ("reading", "encoding")


class Renewal:
    """Runs ``update`` in a thread of its own. Thread-safe.

    Args:
        update: Brings the index up to date, reporting characters; raises ``OtvetError``.
    """

    def __init__(self, update: Callable[[Progress], BuildReport | None]) -> None:
        self._update = update
        self._lock = threading.Lock()
        self._view = RenewalView()
        self._started = 0.0

    def view(self) -> RenewalView:
        """How it stands."""
        with self._lock:
            if not self._view.running:
                return self._view
            return replace(self._view, seconds=time.monotonic() - self._started)

    def start(self) -> RenewalView:
        """Begin a run; where one is at work, another follows it, so that nothing changed is left out."""
        with self._lock:
            if self._view.running:
                self._view = replace(self._view, again=True)
            else:
                self._begin()
            return self._view

    def _begin(self) -> None:
        self._started = time.monotonic()
        self._view = RenewalView("reading", self._view.number + 1)
        threading.Thread(target=self._run, name="otvet-renewal", daemon=True).start()

    def _run(self) -> None:
        report, error = None, None
        try:
            report = self._update(self._progress)
        except OtvetError as known:
            error = known
        except Exception:  # a bug must not leave "indexing" on the page for ever
            logger.exception("indexing failed")
            error = OtvetError()
        with self._lock:
            again = self._view.again
            self._view = replace(
                self._view,
                phase="failed" if error else "done",
                seconds=time.monotonic() - self._started,
                report=report,
                error=error,
                again=False,
            )
            if again:
                self._begin()

    def _progress(self, done: int, total: int) -> None:
        with self._lock:
            self._view = replace(self._view, phase="encoding", done=done, total=total)
