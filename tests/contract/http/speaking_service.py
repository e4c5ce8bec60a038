"""The real service over a small knowledge base, its generator writing word by word as a test allows."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.embedders.hash import HashEmbedder
from pipeline.errors import GeneratorError
from pipeline.generators.scripted import ScriptedGenerator
from pipeline.generators.worker import GeneratorWorker
from pipeline.ingest.build import build_index
from pipeline.lazy import Lazy
from pipeline.service import Parts, QAService
from pipeline.settings import ServerSettings, Settings

TEXT = "[Тема] Отпуск\nОтпуск длится 28 дней.\n\n[Тема] Пароль\nПароль от склада — Берёза-17.\n"
QUESTION = "Сколько дней длится отпуск?"
SPOKEN = "Отпуск длится 28 дней [1]."
WORDS = 5


class SteppedGenerator(ScriptedGenerator):
    """Begins, and lets every word go, only when it may; looks all the while whether it was cancelled."""

    def __init__(self, replies=(SPOKEN,)):
        super().__init__(replies)
        self.steps = threading.Semaphore(0)
        self.written = 0
        self.given_up = threading.Semaphore(0)
        self.fail = False
        self.free = False

    def generate(self, messages, sampling, cancelled) -> Iterator[str]:
        if not self._step(cancelled):
            return
        for piece in super().generate(messages, sampling, cancelled):
            if self.fail:
                raise GeneratorError(reason="scripted failure")
            self.written += 1
            yield piece
            if not self._step(cancelled):
                return

    def _step(self, cancelled) -> bool:
        while not self.free and not self.steps.acquire(timeout=0.005):
            if cancelled():
                self.given_up.release()
                return False
        return True

    def let(self, words: int) -> None:
        """Let so many steps go: the first of a text is its reading."""
        self.steps.release(words)

    def go_on(self) -> None:
        """Let everything go."""
        self.free = True


@contextmanager
def speaking(folder, generator, places=8) -> Iterator[QAService]:
    (folder / "a.txt").write_text(TEXT, encoding="utf-8")
    settings = Settings(server=ServerSettings(queue_size=places))
    embedder = HashEmbedder()
    index = build_index(folder, embedder, settings.index).index
    worker = Lazy(lambda: GeneratorWorker(lambda: generator, places))
    service = QAService(Parts(lambda: index, Lazy(lambda: embedder), Lazy(lambda: None), worker), settings)
    service.start(wait=True)
    try:
        yield service
    finally:
        service.close()


def until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.005)
