"""A service that says what a test tells it to, in place of models and an index."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pipeline.errors import BusyError, CancelledError, EmptyQuestionError, NotFoundError
from pipeline.text.flags import parse_flags
from pipeline.types import (
    Answer,
    AskRequest,
    Chunk,
    Document,
    Event,
    Failed,
    Finished,
    Reply,
    Retrieved,
    Source,
    SourceView,
    Stage,
    Token,
)

CHUNK_ID = "c0ffee-1"
TEXT = "# Отпуск\n\nОтпуск длится 28 дней. <script>alert(1)</script> Его можно разделить."
PASSAGE = "Отпуск длится 28 дней."


def document(text=TEXT, title="Отпуск", link=None, file="кадры/отпуск.md"):
    return Document(id="d1", file=file, title=title, link=link, text=text, blocks=())


def passage(doc, quote=PASSAGE, link=None):
    start = doc.text.index(quote)
    return Chunk(
        id=CHUNK_ID,
        document_id=doc.id,
        ordinal=0,
        topic=doc.title,
        text=quote,
        start=start,
        end=start + len(quote),
        link=link,
        file=doc.file,
    )


def a_source(n=1, **changes):
    values = {
        "n": n,
        "title": "Отпуск",
        "link": None,
        "file": "кадры/отпуск.md",
        "quote": PASSAGE,
        "start": 10,
        "end": 32,
        "score": 0.87654321,
        "page": None,
        "chunk_id": CHUNK_ID,
        "stages": None,
    }
    return Source(**(values | changes))


@dataclass
class ScriptedService:
    """Replies at once; every question comes back in its own answer."""

    answer: str = "Отпуск длится 28 дней [1]."
    outcome: str = "answered"
    sources: tuple[Source, ...] = field(default_factory=lambda: (a_source(),))
    marks: tuple = ()
    notes: tuple[str, ...] = ()
    timings: dict[str, float] = field(default_factory=lambda: {"search": 1.23456, "total": 2.0})
    tokens: tuple[str, ...] = ("Отпуск ", "длится ", "28 дней [1].")
    view: SourceView = field(default_factory=lambda: SourceView(document(), passage(document())))
    is_ready: bool = True
    never_ready: Exception | None = None
    state: dict[str, object] = field(default_factory=lambda: {"queue": {"waiting": 0}})
    error: Exception | None = None
    error_after: int | None = None
    """Events sent before ``error`` is raised; None raises it at once."""
    requests: list[AskRequest] = field(default_factory=list)

    def ask(self, request, cancelled: Callable[[], bool]) -> Reply:
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        return self.reply(request)

    def reply(self, request) -> Reply:
        parsed = parse_flags(request.question)
        if not parsed.text:
            raise EmptyQuestionError
        stages = (Stage("dense", 0.5, 2), Stage("late", 0.75, 1))
        shown = request.scores or parsed.scores
        sources = self.sources
        if shown:
            sources = tuple(a_source(source.n, stages=stages) for source in self.sources)
        return Reply(
            question=parsed.text,
            flags=parsed.flags,
            answer=Answer(self.answer.replace("{question}", parsed.text), self.outcome, (), self.marks),
            sources=sources[: request.top_k],
            timings_ms=self.timings,
            model="scripted",
            kb_version="kb1",
            request_id=request.request_id,
            notes=self.notes,
        )

    def stream(self, request, cancelled: Callable[[], bool]) -> Iterator[Event]:
        self.requests.append(request)
        events = [Retrieved(self.reply(request)), *map(Token, self.tokens), Finished(self.reply(request))]
        if self.error is None:
            yield from events
            return
        if self.error_after is None:
            raise self.error
        yield from events[: self.error_after]
        yield Failed(self.error)

    def source(self, chunk_id: str) -> SourceView:
        if chunk_id != self.view.chunk.id:
            raise NotFoundError(what=chunk_id)
        return self.view

    def ready(self) -> bool:
        if self.never_ready is not None:
            raise self.never_ready
        return self.is_ready

    def status(self) -> dict[str, object]:
        return self.state

    def stuck(self) -> bool:
        return bool(self.state.get("stuck"))

    def parse(self, question, language):
        parsed = parse_flags(question)
        return parsed.text, parsed.flags


@dataclass
class BlockingService(ScriptedService):
    """One worker and a short queue: every request waits until ``release`` is set or its client leaves."""

    places: int = 2
    release: threading.Event = field(default_factory=threading.Event)
    started: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    gone: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    worker: threading.Lock = field(default_factory=threading.Lock)
    waiting: int = 0

    def ask(self, request, cancelled):
        with self._turn(cancelled):
            return super().ask(request, cancelled)

    def stream(self, request, cancelled):
        yield Retrieved(self.reply(request))
        with self._turn(cancelled):
            yield from list(super().stream(request, cancelled))[1:]

    def _turn(self, cancelled):
        if self.waiting >= self.places:
            raise BusyError(waiting=self.waiting, retry_after_s=7)
        self.waiting += 1
        self.started.release()
        try:
            while not self.release.wait(0.01):
                if cancelled():
                    self.gone.release()
                    raise CancelledError
            return self.worker
        finally:
            self.waiting -= 1
