"""Drafts made in the background of a server, or at once for the command line."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pipeline.errors import OtvetError
from pipeline.library.drafting import AskModel, draft_questions, foreign_drafts
from pipeline.library.drafts import Draft, DraftBook
from pipeline.ports import Progress
from pipeline.text.language import detect_language
from pipeline.types import Chunk, Language

__all__ = ["Drafter", "DrafterView", "Wanted"]

logger = logging.getLogger(__name__)

_LANGUAGE_SAMPLE = 20


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to make.

    Attributes:
        count: Questions of the base's own passages.
        foreign: Questions about other things.
        model: The language model shall ask, where there is one.
    """

    count: int = 20
    foreign: int = 5
    model: bool = True


@dataclass(frozen=True, slots=True)
class DrafterView:
    """A run at one moment."""

    phase: Literal["idle", "making", "done", "failed"] = "idle"
    done: int = 0
    total: int = 0
    made: int = 0
    error: OtvetError | None = None


class Drafter:
    """Makes drafts, one run at a time. Thread-safe.

    Args:
        book: Where they go; what it has is not made again.
        chunks: All passages of the knowledge base.
        ask: The language model; None where there is none. Called in the run's own thread.
    """

    def __init__(
        self,
        book: DraftBook,
        chunks: Callable[[], Sequence[Chunk]],
        ask: Callable[[], AskModel | None],
    ) -> None:
        self._book = book
        self._chunks = chunks
        self._ask = ask
        self._lock = threading.Lock()
        self._view = DrafterView()

    def view(self) -> DrafterView:
        """How the last run stands."""
        with self._lock:
            return self._view

    def start(self, wanted: Wanted) -> DrafterView:
        """Begin a run in the background; where one is at work, it goes on alone."""
        with self._lock:
            if self._view.phase != "making":
                self._view = DrafterView("making", 0, wanted.count)
                threading.Thread(target=self._run, args=(wanted,), name="otvet-drafts", daemon=True).start()
            return self._view

    def make(self, wanted: Wanted, progress: Progress | None = None) -> list[Draft]:
        """Make drafts and keep them.

        Raises:
            IndexUnusableError: There is no index to make them of.
            OtvetError: The language model failed.
        """
        known = self._book.all()
        accepted = self._book.accepted()
        used = {draft.chunk_id for draft in known} | {str(line.get("chunk_id", "")) for line in accepted}
        ids = {draft.id for draft in known} | {str(line.get("id", "")) for line in accepted}
        chunks = self._chunks()
        ask = self._ask() if wanted.model else None
        made = draft_questions(chunks, wanted.count, taken=used, ask=ask, progress=progress)
        sample = [detect_language(draft.question) for draft in made[:_LANGUAGE_SAMPLE]]
        language: Language = "en" if sample.count("en") * 2 > len(sample) else "ru"
        made += foreign_drafts(language, wanted.foreign, ids)
        if made:
            self._book.add(made)
        return made

    def _run(self, wanted: Wanted) -> None:
        made: list[Draft] = []
        error: OtvetError | None = None
        try:
            made = self.make(wanted, self._progress)
        except OtvetError as known:
            error = known
        except Exception:  # a bug must not leave "making" on the page for ever
            logger.exception("drafting failed")
            error = OtvetError()
        with self._lock:
            phase: Literal["done", "failed"] = "failed" if error else "done"
            self._view = replace(self._view, phase=phase, made=len(made), error=error)

    def _progress(self, done: int, total: int) -> None:
        with self._lock:
            self._view = replace(self._view, done=done, total=total)
