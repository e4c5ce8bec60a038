"""The product behind every interface: a request in, events or a reply out.

One path for all: ``stream`` yields the sources first, then the words of the answer, then the checked
reply; ``ask`` is the same path read to its end.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace

from pipeline.answer.contradictions import contradictions
from pipeline.answer.dates import Dating
from pipeline.answer.evidence import gather
from pipeline.answer.extractive import extractive_answer
from pipeline.answer.prompt import build_prompt
from pipeline.classify.classifier import classify
from pipeline.clock import Clock
from pipeline.errors import (
    CancelledError,
    GeneratorMissingError,
    NotFoundError,
    NotReadyError,
)
from pipeline.explain import explanation, holding, standing, word_matches
from pipeline.gate import Gate
from pipeline.hardware import physical_cores
from pipeline.messages import Phrase
from pipeline.ports import Closable
from pipeline.readiness import Parts, Readiness
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.retrieval.room import Room
from pipeline.retrieval.search import retrieve_from
from pipeline.settings import Settings
from pipeline.snapshot import Snapshot
from pipeline.strategies import settled
from pipeline.text.language import detect_language
from pipeline.turns import EXTRACTIVE, Found, Turn
from pipeline.types import (
    AskRequest,
    Classified,
    ClassifyRequest,
    DayCost,
    Event,
    Evidence,
    Explanation,
    Failed,
    Finished,
    Language,
    Query,
    Reply,
    Retrieval,
    Retrieved,
    SourceView,
    Standing,
    TableView,
    WordMatches,
)
from pipeline.understand import understand
from pipeline.writer import Writer

__all__ = ["EXTRACTIVE", "RERANK_LINE", "SEARCH_LINE", "Parts", "QAService"]

logger = logging.getLogger(__name__)

SEARCH_LINE = 64
RERANK_LINE = 4
"""Searches, and searches with the cross-encoder, that may wait for a core; the next one is refused."""


class QAService:
    """Answers requests; safe to call from many threads."""

    def __init__(self, parts: Parts, settings: Settings) -> None:
        self._parts = parts
        self._settings = settings
        self._readiness = Readiness(parts, settings)
        self._writer = Writer(parts.worker, settings)
        # By whether a cross-encoder is asked for: its seconds must not stand in the way of milliseconds.
        self._doors = {False: Gate(physical_cores(), SEARCH_LINE), True: Gate(1, RERANK_LINE)}

    @property
    def parts(self) -> Parts:
        """What it is made of, for whoever looks after the knowledge base."""
        return self._parts

    def start(self, *, wait: bool = False, generator: bool = True) -> None:
        """Load in the background, what answers a search first.

        Args:
            wait: Return only when a search can be answered.
            generator: Load the generator too; without, it is loaded when first needed.

        Raises:
            OtvetError: With ``wait``: index or embedder cannot be loaded.
        """
        self._readiness.start(wait=wait, generator=generator)

    def close(self) -> None:
        """Stop the generator at its next token, free what is loaded; look for new indexes no more."""
        self._readiness.versions.close()
        worker = self._parts.worker.peek() if self._parts.worker else None
        if worker is not None:
            worker.close()
        embedder: object = self._parts.embedder.peek()
        if isinstance(embedder, Closable):
            embedder.close()

    def ready(self) -> bool:
        """True once a search can be answered.

        Raises:
            OtvetError: Why index or embedder could not be loaded; an index may still come.
        """
        return self._readiness.ready()

    def status(self) -> dict[str, object]:
        """Models, index, queue and memory, as JSON values."""
        return self._readiness.status()

    def stuck(self) -> bool:
        """True when the generator has been silent too long; waits for nothing."""
        worker = self._parts.worker.peek() if self._parts.worker else None
        return worker is not None and bool(worker.status()["stuck"])

    def parse(self, question: str, language: Language) -> tuple[str, tuple[str, ...]]:
        """The question without its flags, and the flags, as understood."""
        query = understand(AskRequest(question=question, language=language))
        return query.text, query.flags

    def result(self, result_id: str) -> TableView:
        """The result of a statement; see `pipeline.ports.Service`."""
        if self._parts.tables is None:
            raise NotFoundError(what=result_id)
        return self._parts.tables.result(result_id)

    def costs(self) -> list[DayCost]:
        """What questions over databases have cost, the newest day first."""
        return self._parts.tables.tools.costs.days() if self._parts.tables else []

    def source(self, chunk_id: str) -> SourceView:
        """The passage and its document.

        Raises:
            NotFoundError: No such passage in the current index.
        """
        with self._snapshot() as snapshot:
            chunk = snapshot.chunk(chunk_id)
            document = snapshot.document(chunk.document_id) if chunk else None
        if chunk is None or document is None:
            raise NotFoundError(what=chunk_id)
        return SourceView(document, chunk)

    def explain(self, request: AskRequest, chunk_id: str = "") -> Explanation:
        """How the answer comes about, up to the moment when the model would speak; see `Service`."""
        turn = Turn(request, lambda: False, Clock())
        with self._snapshot() as snapshot:
            retrieval = self._retrieved(understand(request), snapshot, turn)
            place = self._standing(retrieval, snapshot, chunk_id) if chunk_id else None
            kb_version = snapshot.manifest.build_id
        evidence = self._evidence(retrieval)
        would_be = self._writer.prompt_of(retrieval.query, evidence)
        prompt = None if evidence.refused else would_be
        found = explanation(retrieval, evidence, prompt, kb_version, place)
        if would_be is None:
            embedder = self._parts.embedder.get()
            count, counted_by = Room.of(embedder).count, embedder.spec.id
            language = detect_language(retrieval.query.text)
            would_be = build_prompt(retrieval.query, evidence, language, count, self._writer.prompt_tokens)
        else:
            counted_by = self._writer.generator_id()
        return replace(found, read_tokens=would_be.tokens, counted_by=counted_by)

    def match_words(self, question: str, chunk_id: str) -> WordMatches:
        """Late interaction word by word; see `Service`."""
        asked = understand(AskRequest(question=question)).search_text
        with self._snapshot() as snapshot:
            return word_matches(asked, holding(snapshot, chunk_id), self._parts.embedder.get(), chunk_id)

    def _standing(self, retrieval: Retrieval, snapshot: Snapshot, chunk_id: str) -> Standing:
        index = holding(snapshot, chunk_id)
        passages = None if isinstance(snapshot, IndexSnapshot) else snapshot.statistics.chunks
        return standing(retrieval, index, self._parts.embedder.get(), chunk_id, passages)

    def ask(self, request: AskRequest, cancelled: Callable[[], bool]) -> Reply:
        """Answer a request; see `pipeline.ports.Service`."""
        for event in self.stream(request, cancelled):
            if isinstance(event, Finished):
                return event.reply
            if isinstance(event, Failed):
                raise event.error
        raise CancelledError

    def classify(self, request: ClassifyRequest, cancelled: Callable[[], bool]) -> Iterator[Classified]:
        """The texts of a request with their labels; see `pipeline.ports.Service`."""
        if self._parts.worker is None:
            raise GeneratorMissingError
        return classify(self._parts.worker.get(), request, cancelled)

    def stream(self, request: AskRequest, cancelled: Callable[[], bool]) -> Iterator[Event]:
        """The same as events. What is wrong with the request is raised here, before the first event."""
        tables = self._parts.tables
        if tables is not None and tables.concerns(request):
            return tables.stream(request, cancelled, lambda asked: self._over_documents(asked, cancelled))
        return self._over_documents(request, cancelled)

    def _over_documents(self, request: AskRequest, cancelled: Callable[[], bool]) -> Iterator[Event]:
        turn = Turn(request, cancelled, Clock())
        if request.prompt is not None:
            return self._writer.from_data(turn)
        query = understand(request)
        # Closed before the model speaks: nobody's transaction waits for a sentence.
        with self._snapshot() as snapshot:
            retrieval = self._retrieved(query, snapshot, turn)
            turn.clock.include(retrieval.timings_ms)
            found = self._found(turn, retrieval, snapshot)
        return self._from_knowledge_base(found)

    def _snapshot(self) -> AbstractContextManager[Snapshot]:
        if self._readiness.loading():
            raise NotReadyError(what=Phrase("loading"))
        return self._readiness.versions.open()

    def _retrieved(self, query: Query, snapshot: Snapshot, turn: Turn) -> Retrieval:
        left_s = turn.clock.left_s(turn.request.deadline_s)
        search = self._settings.search
        way, order = settled(query.strategy or search.strategy, query.reranker or search.reranker)
        with self._doors[order.reads].passing(turn.cancelled, left_s):
            ranker = self._parts.cross_encoder.get() if order.reads else None
            room = self._writer.room(query, self._parts.embedder.get()) if way.is_whole else None
            return retrieve_from(query, snapshot, self._parts.embedder.get(), search, ranker, room=room)

    def _evidence(self, retrieval: Retrieval) -> Evidence:
        chosen = self._settings.search
        return gather(retrieval, chosen.refusal_threshold, chosen.strictness)

    def _found(self, turn: Turn, retrieval: Retrieval, snapshot: Snapshot) -> Found:
        evidence = self._evidence(retrieval)
        language = detect_language(retrieval.query.text)
        dating = Dating(snapshot.document, self._modified)
        disputed = contradictions(retrieval, evidence, dating.of_both)
        version = snapshot.manifest.build_id
        return Found(turn, retrieval.query, evidence, version, language, retrieval.notes, disputed)

    def _from_knowledge_base(self, found: Found) -> Iterator[Event]:
        turn, evidence = found.turn, found.evidence
        extract = extractive_answer(evidence, found.language)
        turn.clock.lap("evidence")
        shown = extract if evidence.refused else replace(extract, outcome="sources")
        first = found.reply(shown, EXTRACTIVE)
        yield Retrieved(first)
        if not turn.request.use_rag or evidence.refused:
            yield Finished(first)
        elif self._parts.worker is None:
            yield Finished(found.reply(extract, EXTRACTIVE, "note_no_generator"))
        else:
            yield from self._writer.generated(found, extract)

    def _modified(self, file: str) -> float | None:
        """When a file of the knowledge base was last written; None when it is not there."""
        try:
            return (self._settings.knowledge_base / file).stat().st_mtime
        except (OSError, ValueError):
            return None
