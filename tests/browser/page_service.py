"""Both real servers over a service without models, for the page in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import server_fastapi
import server_flask
from pipeline.errors import CancelledError, EmptyQuestionError, NotFoundError
from pipeline.ports import Service
from pipeline.settings import Settings
from pipeline.text.flags import parse_flags
from pipeline.types import (
    Answer,
    AskRequest,
    Chunk,
    Document,
    Event,
    Finished,
    Language,
    Mark,
    Reply,
    Retrieved,
    Source,
    SourceView,
    Stage,
    Token,
)
from pipeline.web.serving import FastapiServer, FlaskServer, listen, spare_threads

TITLE = "Отпуск <script>document.title='X'</script>"
PASSAGE = "Отпуск длится 28 дней."
TEXT = (
    f"Введение.\n\n{PASSAGE} <img src=x onerror=\"document.title='X'\"> Его делят на части.\n"
    + "Ещё.\n" * 300
)
ANSWER = "Отпуск длится 28 дней [1]. Его можно разделить на 99 частей [1]."


@dataclass
class PageService:
    """Knows one document; questions with «борщ» have no answer, those with «долго» never end."""

    is_ready: bool = True
    left: threading.Event = field(default_factory=threading.Event)

    def ask(self, request: AskRequest, cancelled: Callable[[], bool]) -> Reply:
        return self._found(request)

    def stream(self, request: AskRequest, cancelled: Callable[[], bool]) -> Iterator[Event]:
        found = self._found(request)
        yield Retrieved(found)
        if not request.use_rag or found.answer.outcome == "not_found":
            yield Finished(found)
            return
        for word in ANSWER.split(" "):
            yield Token(f"{word} ")
        while "долго" in request.question:
            if cancelled():
                self.left.set()
                raise CancelledError
            yield Token("… ")
            threading.Event().wait(0.05)
        start = ANSWER.index("99")
        yield Finished(
            self._reply(request, Answer(ANSWER, "partial", (), (Mark(start, start + 2, "number"),)))
        )

    def source(self, chunk_id: str) -> SourceView:
        if chunk_id != "c1":
            raise NotFoundError(what=chunk_id)
        document = Document(id="d1", file="кадры/отпуск.md", title=TITLE, link=None, text=TEXT, blocks=())
        start = TEXT.index(PASSAGE)
        chunk = Chunk("c1", "d1", 0, TITLE, PASSAGE, start, start + len(PASSAGE), file=document.file)
        return SourceView(document, chunk)

    def ready(self) -> bool:
        return self.is_ready

    def status(self) -> dict[str, object]:
        return {}

    def stuck(self) -> bool:
        return False

    def parse(self, question: str, language: Language) -> tuple[str, tuple[str, ...]]:
        parsed = parse_flags(question)
        return parsed.text, parsed.flags

    def _found(self, request: AskRequest) -> Reply:
        if "борщ" in request.question:
            return self._reply(request, Answer("В базе знаний этого нет.", "not_found"))
        return self._reply(request, Answer(f"{PASSAGE} [1]", "sources"))

    def _reply(self, request: AskRequest, answer: Answer) -> Reply:
        parsed = parse_flags(request.question)
        if not parsed.text:
            raise EmptyQuestionError
        stages = (Stage("cosine", 0.5, 2), Stage("late_interaction", 0.75, 1)) if parsed.scores else None
        link = "https://example.org/otpusk"
        sources = (
            Source(1, TITLE, None, "кадры/отпуск.md", PASSAGE, 11, 33, 0.8, None, "c1", stages),
            Source(
                2, "Перенос", link, "кадры/перенос.pdf", "Не больше 14 дней.", 0, 18, 0.7, 12, "c2", stages
            ),
        )
        timings = {"search": 1.5, "total": 2.0}
        return Reply(parsed.text, parsed.flags, answer, sources, timings, "тест", "kb1", request.request_id)


@contextmanager
def serve_really(
    kind: str, service: Service, port: int = 0, settings: Settings | None = None
) -> Iterator[str]:
    """Run ``kind`` ("fastapi" or "flask") in a thread, on a free port unless told; yields its address."""
    settings = settings or Settings()
    bound = listen("127.0.0.1", port)
    server: FastapiServer | FlaskServer
    if kind == "fastapi":
        server = FastapiServer(server_fastapi.create_app(service, settings), bound)
    else:
        server = FlaskServer(server_flask.create_app(service, settings), bound, spare_threads(settings))
    thread = threading.Thread(target=server.run, name=f"page-{kind}")
    thread.start()
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.stop()
        thread.join(20)
        bound.close()
        assert not thread.is_alive()
