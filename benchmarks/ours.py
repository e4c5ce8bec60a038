"""Our side of the benchmark: the product's own classes, made by its own composition root.

The operations are those of ``naive.py``, and a few that prepare or watch.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from protocol import serve

from pipeline import bootstrap
from pipeline.lazy import Lazy
from pipeline.settings import Settings, load_settings
from pipeline.types import AskRequest, Failed, Filter, Finished, Token

__all__ = ["Ours"]

_SOURCES = 2
_QUIET_S = 0.3
_LONGEST_WAIT_S = 60.0


class Ours:
    """The service as ``otvet serve`` makes it; nothing is loaded before it is asked for.

    Args:
        settings: Of the product; ``home`` holds the index.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._service = bootstrap.create_service(settings)
        self._cross_encoder = Lazy(lambda: bootstrap.create_cross_encoder(settings))

    def load(self, generator: bool = False) -> dict[str, Any]:
        """Load what answers a search, and the generator in the background if asked for."""
        self._service.start(wait=True, generator=generator)
        return {"status": self._service.status()["index"]}

    def index(self, home: str, rebuild: bool = True) -> dict[str, Any]:
        """Index the knowledge base of another home."""
        report = bootstrap.build(self._settings.model_copy(update={"home": Path(home)}), rebuild=rebuild)
        return {"tokens": report.tokens, "chunks": report.chunks} if report else {"tokens": 0, "chunks": 0}

    def search(self, question: str, top_k: int = 3, path_prefix: str = "") -> dict[str, Any]:
        """Sources without an answer; late interaction is always part of it."""
        wanted = Filter(path_prefix=path_prefix) if path_prefix else None
        reply = self._service.ask(AskRequest(question=question, top_k=top_k, filter=wanted), lambda: False)
        return {"chunks": [source.chunk_id for source in reply.sources], "timings_ms": dict(reply.timings_ms)}

    def rerank(self, question: str) -> dict[str, Any]:
        """A search with the scores of all its stages, the late interaction of 20 candidates among them."""
        reply = self._service.ask(AskRequest(question=question, scores=True), lambda: False)
        return {"scores": [source.score for source in reply.sources]}

    def cross_encoder(self, question: str, passages: list[str]) -> dict[str, Any]:
        """What ``-ce`` adds: a cross-encoder over the given candidates."""
        model = self._cross_encoder.get()
        if model is None:
            raise LookupError("no cross-encoder in the settings")
        started = time.perf_counter()
        scores = model.score(question, passages)
        return {"scores": [float(score) for score in scores], "seconds": time.perf_counter() - started}

    def sources(self, question: str) -> dict[str, Any]:
        """Titles and whole texts of the sources that an answer would rest on."""
        reply = self._service.ask(AskRequest(question=question, top_k=_SOURCES), lambda: False)
        views = [self._service.source(source.chunk_id) for source in reply.sources]
        return {
            "outcome": reply.answer.outcome,
            "titles": [view.chunk.topic for view in views],
            "texts": [view.chunk.text for view in views],
        }

    def answer(self, question: str) -> dict[str, Any]:
        """A generated answer from two sources: seconds to the first token, and to the checked answer."""
        request = AskRequest(question=question, use_rag=True, top_k=_SOURCES, sources_limit=_SOURCES)
        started = time.perf_counter()
        first = None
        tokens = 0
        result: dict[str, Any] = {}
        for event in self._service.stream(request, lambda: False):
            if isinstance(event, Token):
                first = first or time.perf_counter() - started
                tokens += 1
            elif isinstance(event, Failed):
                raise event.error
            elif isinstance(event, Finished):
                reply = event.reply
                result = {"text": reply.answer.text, "outcome": reply.answer.outcome, "model": reply.model}
                result["timings_ms"] = dict(reply.timings_ms)
        return {**result, "first_token": first, "pieces": tokens, "seconds": time.perf_counter() - started}

    def settle(self) -> dict[str, Any]:
        """Wait until this process does nothing in the background, so that it takes nothing from the other."""
        until = time.monotonic() + _LONGEST_WAIT_S
        waited = 0
        while time.monotonic() < until:
            before = time.process_time()
            time.sleep(_QUIET_S)
            waited += 1
            if time.process_time() - before < 0.05 * _QUIET_S:
                break
        return {"waited_s": waited * _QUIET_S}


def main() -> None:
    """Run as one side of ``run.py``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", required=True)
    parser.add_argument("--models")
    parser.add_argument("--profile", default="embedded")
    parser.add_argument("--cross-encoder")
    parser.add_argument("--chunk-tokens", type=int)
    options = parser.parse_args()
    chosen = {
        "home": options.home,
        "models": options.models,
        "profile": options.profile,
        "cross_encoder": options.cross_encoder,
    }
    if options.chunk_tokens:
        chosen |= {"index.chunk_tokens": options.chunk_tokens, "index.overlap_tokens": 0}
    ours = Ours(load_settings(chosen).settings)
    operations = ("load", "index", "search", "rerank", "cross_encoder", "sources", "answer", "settle")
    serve({name: getattr(ours, name) for name in operations})


if __name__ == "__main__":
    main()
