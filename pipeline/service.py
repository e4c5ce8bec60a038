"""The product behind every interface: a request in, events or a reply out.

One path for all: ``stream`` yields the sources first, then the words of the answer, then the checked
reply; ``ask`` is the same path read to its end.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipeline.answer.compose import compose
from pipeline.answer.contradictions import Contradiction, contradictions, with_contradictions
from pipeline.answer.dates import Dating
from pipeline.answer.evidence import gather
from pipeline.answer.extractive import extractive_answer
from pipeline.answer.lasting import first_source_lasts, sources_last
from pipeline.answer.prompt import Prompt, build_data_prompt, build_prompt
from pipeline.answer.quotation import with_quotation
from pipeline.answer.second_look import ANSWERS, is_doubtful, second_look, states_answer
from pipeline.classify.classifier import classify
from pipeline.clock import Clock
from pipeline.errors import (
    BusyError,
    CancelledError,
    GeneratorMissingError,
    IndexUnusableError,
    NotFoundError,
    NotReadyError,
    OtvetError,
    RemoteError,
)
from pipeline.explain import explanation, standing, word_matches
from pipeline.gate import Gate
from pipeline.generators.generation import Generation
from pipeline.generators.worker import GeneratorWorker
from pipeline.hardware import memory, physical_cores, resident_bytes
from pipeline.index import Index, find_row
from pipeline.index_report import IndexReport
from pipeline.lazy import Lazy
from pipeline.messages import Phrase, text
from pipeline.ports import Closable, Embedder, GeneratorSpec, Reranker, Sampling
from pipeline.replies import sources_of
from pipeline.retrieval.room import Room
from pipeline.retrieval.search import retrieve
from pipeline.settings import Settings
from pipeline.stores.live import LiveIndex
from pipeline.strategies import settled
from pipeline.text.language import detect_language
from pipeline.types import (
    Answer,
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
    TableView,
    Token,
    Waiting,
    WordMatches,
)
from pipeline.understand import understand

if TYPE_CHECKING:
    from pipeline.tables.answers import Tables

__all__ = ["EXTRACTIVE", "RERANK_LINE", "SEARCH_LINE", "Parts", "QAService"]

logger = logging.getLogger(__name__)

EXTRACTIVE = "extractive"
"""What ``Reply.model`` says of an answer made of the sources' own sentences."""

SEARCH_LINE = 64
RERANK_LINE = 4
"""Searches, and searches with the cross-encoder, that may wait for a core; the next one is refused."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a service is made of; nothing is loaded until it is needed or ``start`` is called.

    Attributes:
        index: The current index; another one whenever it was renewed.
        embedder: Encodes questions; the one that made the index.
        cross_encoder: For ``-ce``; holds None where none is installed.
        worker: Starts the generator's worker; None in a profile without a generator.
        live: Where ``index`` comes from, if it is renewed while the service runs.
        tables: Answers over declared databases; None where there are none.
    """

    index: Callable[[], Index]
    embedder: Lazy[Embedder]
    cross_encoder: Lazy[Reranker | None]
    worker: Lazy[GeneratorWorker] | None
    live: LiveIndex | None = None
    tables: Tables | None = None


@dataclass(frozen=True, slots=True)
class _Turn:
    """One request on its way."""

    request: AskRequest
    cancelled: Callable[[], bool]
    clock: Clock


@dataclass(frozen=True, slots=True)
class _Found:
    """What the knowledge base gave for a request; all its replies are made from this."""

    turn: _Turn
    query: Query
    evidence: Evidence
    kb_version: str
    language: Language
    notes: tuple[str, ...]
    contradictions: tuple[Contradiction, ...]

    def not_found(self) -> Reply:
        """The reply of a question that has no answer after all."""
        refused = replace(self, evidence=replace(self.evidence, refused=True))
        return refused.reply(extractive_answer(refused.evidence, self.language), EXTRACTIVE)

    def reply(self, answer: Answer, model: str, note: str | None = None) -> Reply:
        request = self.turn.request
        return Reply(
            question=self.query.text,
            flags=self.query.flags,
            answer=with_contradictions(answer, self.contradictions, self.evidence, self.language),
            sources=sources_of(self.evidence, scores=self.query.scores),
            timings_ms=self.turn.clock.timings_ms(),
            model=model,
            kb_version=self.kb_version,
            request_id=request.request_id,
            notes=tuple(text("answers", key, request.language) for key in (*self.notes, note) if key),
        )


class QAService:
    """Answers requests; safe to call from many threads."""

    def __init__(self, parts: Parts, settings: Settings) -> None:
        self._parts = parts
        self._settings = settings
        self._loading: threading.Thread | None = None
        self._failure: OtvetError | None = None
        self._report = IndexReport()
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
        self._loading = threading.Thread(
            target=self._load, args=(generator,), name="otvet-loading", daemon=True
        )
        self._loading.start()
        if wait:
            self._loading.join()
            if self._failure is not None:
                raise self._failure.again()

    def close(self) -> None:
        """Stop the generator at its next token, free what is loaded; look for new indexes no more."""
        if self._parts.live is not None:
            self._parts.live.close()
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
        self._recover()
        if self._failure is not None:
            raise self._failure.again()
        return self._loading is not None and not self._loading.is_alive()

    def stuck(self) -> bool:
        """True when the generator has been silent too long; waits for nothing."""
        worker = self._parts.worker.peek() if self._parts.worker else None
        return worker is not None and bool(worker.status()["stuck"])

    def status(self) -> dict[str, object]:
        """Models, index, queue and memory, as JSON values."""
        self._recover()
        embedder = self._parts.embedder.peek()
        worker = self._parts.worker.peek() if self._parts.worker else None
        generator = worker.status() if worker else {}
        loaded = self._failure is None and self._loading is not None and not self._loading.is_alive()
        return {
            "profile": self._settings.profile,
            "embedder": embedder.spec.id if embedder else None,
            "generator": generator or None,
            "stuck": bool(generator.get("stuck")),
            "index": self._report.of(self._parts.index()) if loaded else None,
            "error": self._failure.code if self._failure else None,
            "index_problem": self._index_problem(),
            "memory": {"resident_bytes": resident_bytes(), "available_bytes": memory().available},
        }

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
        index = self._index()
        row = find_row(index, chunk_id)
        if row is None:
            raise NotFoundError(what=chunk_id)
        chunk = index.chunks[row]
        return SourceView(index.documents[chunk.document_id], chunk)

    def explain(self, request: AskRequest, chunk_id: str = "") -> Explanation:
        """How the answer comes about, up to the moment when the model would speak; see `Service`."""
        query, index = understand(request), self._index()
        retrieval = self._retrieved(query, index, _Turn(request, lambda: False, Clock()))
        evidence = self._evidence(retrieval)
        place = standing(retrieval, index, self._parts.embedder.get(), chunk_id) if chunk_id else None
        would_be = self._prompt_of(retrieval.query, evidence)
        prompt = None if evidence.refused else would_be
        found = explanation(retrieval, evidence, prompt, index.manifest.build_id, place)
        if would_be is None:
            embedder = self._parts.embedder.get()
            count, counted_by = Room.of(embedder).count, embedder.spec.id
            language = detect_language(retrieval.query.text)
            would_be = build_prompt(retrieval.query, evidence, language, count, self._prompt_tokens)
        else:
            counted_by = self._generator_id()
        return replace(found, read_tokens=would_be.tokens, counted_by=counted_by)

    def match_words(self, question: str, chunk_id: str) -> WordMatches:
        """Late interaction word by word; see `Service`."""
        asked = understand(AskRequest(question=question)).search_text
        return word_matches(asked, self._index(), self._parts.embedder.get(), chunk_id)

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
        turn = _Turn(request, cancelled, Clock())
        if request.prompt is not None:
            return self._from_data(turn)
        query = understand(request)
        index = self._index()
        retrieval = self._retrieved(query, index, turn)
        turn.clock.include(retrieval.timings_ms)
        return self._from_knowledge_base(turn, retrieval, index)

    def _load(self, generator: bool) -> None:
        try:
            self._parts.embedder.get()
            self._parts.index()
        except OtvetError as error:
            # Kept for /ready and /status; a request that needs the part meets the same error.
            self._failure = error
            logger.error("%s", error)
        except Exception:  # a full disk or a bug: the thread must not end as if all went well
            self._failure = OtvetError()
            logger.exception("loading failed")
        if generator and self._parts.worker is not None:
            self._parts.worker.get()

    def _recover(self) -> None:
        """Forget that there was no index to start with, or no embedder's server, once there is one."""
        may_pass = isinstance(self._failure, IndexUnusableError | RemoteError)
        if may_pass and self._parts.live is not None:
            try:
                self._parts.index()
            except OtvetError as error:
                self._failure = error
            else:
                self._failure = None

    def _index_problem(self) -> dict[str, str] | None:
        """Why the index on the disk is not the one in use."""
        problem = self._parts.live.problem() if self._parts.live else None
        if problem is None:
            return None
        spoken = self._settings.language
        return {"error": problem.code, "message": problem.message(spoken), "hint": problem.hint(spoken)}

    def _index(self) -> Index:
        if self._loading is not None and self._loading.is_alive():
            raise NotReadyError(what=Phrase("loading"))
        return self._parts.index()

    def _retrieved(self, query: Query, index: Index, turn: _Turn) -> Retrieval:
        left_s = turn.clock.left_s(turn.request.deadline_s)
        search = self._settings.search
        way, order = settled(query.strategy or search.strategy, query.reranker or search.reranker)
        with self._doors[order.reads].passing(turn.cancelled, left_s):
            ranker = self._parts.cross_encoder.get() if order.reads else None
            room = self._room(query) if way.is_whole else None
            return retrieve(query, index, self._parts.embedder.get(), search, ranker, room=room)

    def _generator_id(self) -> str:
        worker = self._parts.worker.peek() if self._parts.worker else None
        return str(worker.status().get("model") or "") if worker else ""

    def _room(self, query: Query) -> Room:
        """What the prompt has left for sources, counted by the generator where one is ready."""
        empty = Evidence(hits=(), sentences=(), relevance=0.0, refused=False)
        prompt = self._prompt_of(query, empty)
        worker = self._parts.worker.peek() if self._parts.worker else None
        if prompt is None or worker is None:
            return Room.of(self._parts.embedder.get(), self._prompt_tokens)
        return Room(self._prompt_tokens - prompt.tokens, worker.count_tokens)

    @property
    def _prompt_tokens(self) -> int:
        return self._settings.generator.context_tokens - self._settings.generator.answer_tokens

    def _prompt_of(self, query: Query, evidence: Evidence) -> Prompt | None:
        """The prompt that would be sent; None where no generator is ready to count its tokens."""
        worker = self._parts.worker.peek() if self._parts.worker else None
        if worker is None or worker.state != "ready":
            return None
        language = detect_language(query.text)
        return build_prompt(query, evidence, language, worker.count_tokens, self._prompt_tokens)

    def _evidence(self, retrieval: Retrieval) -> Evidence:
        chosen = self._settings.search
        return gather(retrieval, chosen.refusal_threshold, chosen.strictness)

    def _from_knowledge_base(self, turn: _Turn, retrieval: Retrieval, index: Index) -> Iterator[Event]:
        query = retrieval.query
        language = detect_language(query.text)
        evidence = self._evidence(retrieval)
        extract = extractive_answer(evidence, language)
        disputed = contradictions(retrieval, evidence, Dating(index.documents, self._modified).of_both)
        turn.clock.lap("evidence")
        kb_version = index.manifest.build_id
        found = _Found(turn, query, evidence, kb_version, language, retrieval.notes, disputed)
        shown = extract if evidence.refused else replace(extract, outcome="sources")
        first = found.reply(shown, EXTRACTIVE)
        yield Retrieved(first)
        if not turn.request.use_rag or evidence.refused:
            yield Finished(first)
        elif self._parts.worker is None:
            yield Finished(found.reply(extract, EXTRACTIVE, "note_no_generator"))
        else:
            yield from self._generated(found, extract)

    def _modified(self, file: str) -> float | None:
        """When a file of the knowledge base was last written; None when it is not there."""
        try:
            return (self._settings.knowledge_base / file).stat().st_mtime
        except (OSError, ValueError):
            return None

    def _generated(self, found: _Found, extract: Answer) -> Iterator[Event]:
        """Words of the generator, then the checked answer; the extract wherever there is none."""
        turn, pieces = found.turn, list[str]()
        try:
            worker, spec = self._worker(turn)
            if not (yield from self._second_look(worker, found)):
                yield Finished(found.not_found())
                return
            room = spec.context_tokens - self._settings.generator.answer_tokens
            prompt = build_prompt(found.query, found.evidence, found.language, worker.count_tokens, room)
            generation = self._submit(worker, prompt, turn)
            for event in _written(generation, turn.clock):
                if isinstance(event, Token):
                    pieces.append(event.text)
                yield event
        except (BusyError, CancelledError) as error:
            yield Failed(error)
            return
        except OtvetError as error:
            # The evidence is at hand: a generator that fails or is late costs the prose, not the answer.
            note = "note_generator_loading" if isinstance(error, NotReadyError) else "note_generator_failed"
            logger.warning("%s", error)
            yield Finished(found.reply(extract, EXTRACTIVE, note))
            return
        turn.clock.lap("generation")
        if generation.end == "deadline":
            yield Finished(found.reply(extract, EXTRACTIVE, "note_deadline"))
            return
        written = compose("".join(pieces), found.evidence, found.language, question=found.query.text)
        answer = with_quotation(written, found.evidence, found.language)
        turn.clock.lap("check")
        yield Finished(found.reply(answer, spec.id))

    def _second_look(self, worker: GeneratorWorker, found: _Found) -> Generator[Event, None, bool]:
        """Whether the model, too, finds the answer in the best passage, where that is in doubt."""
        turn = found.turn
        wanted = self._settings.search.second_look and worker.scores
        if not (wanted and is_doubtful(found.evidence)):
            return True
        generation = worker.score(
            second_look(found.query, found.evidence),
            ANSWERS,
            client=turn.request.client,
            cancelled=turn.cancelled,
            deadline=time.monotonic() + turn.clock.left_s(turn.request.deadline_s),
        )
        for place in generation.places():
            yield Waiting(place, generation.remaining_s())
        scores = generation.scores()
        turn.clock.lap("second_look")
        return states_answer(scores)

    def _from_data(self, turn: _Turn) -> Iterator[Event]:
        """The second input: the caller's own prompt over the caller's own data."""
        request = turn.request
        worker, spec = self._worker(turn)
        room = spec.context_tokens - self._settings.generator.answer_tokens
        prompt = build_data_prompt(
            request.prompt or "", request.data, request.question, worker.count_tokens, room
        )
        return self._data_events(turn, self._submit(worker, prompt, turn), spec.id)

    def _data_events(self, turn: _Turn, generation: Generation, model: str) -> Iterator[Event]:
        request, pieces = turn.request, list[str]()
        try:
            for event in _written(generation, turn.clock):
                if isinstance(event, Token):
                    pieces.append(event.text)
                yield event
        except OtvetError as error:
            yield Failed(error)
            return
        turn.clock.lap("generation")
        cut = generation.end == "deadline"
        yield Finished(
            Reply(
                question=request.question,
                flags=(),
                answer=Answer("".join(pieces).strip(), "generated"),
                sources=(),
                timings_ms=turn.clock.timings_ms(),
                model=model,
                kb_version="",
                request_id=request.request_id,
                notes=(text("answers", "note_deadline_cut", request.language),) if cut else (),
            )
        )

    def _worker(self, turn: _Turn) -> tuple[GeneratorWorker, GeneratorSpec]:
        if self._parts.worker is None:
            raise NotReadyError(what=Phrase("no_generator"))
        worker = self._parts.worker.get()
        return worker, worker.wait_ready(turn.clock.left_s(turn.request.deadline_s), turn.cancelled)

    def _submit(self, worker: GeneratorWorker, prompt: Prompt, turn: _Turn) -> Generation:
        chosen = self._settings.generator
        lasting = first_source_lasts if turn.request.prompt is None else sources_last
        return worker.submit(
            lasting(prompt.messages),
            Sampling(max_tokens=chosen.answer_tokens, temperature=chosen.temperature),
            client=turn.request.client,
            cancelled=turn.cancelled,
            deadline=time.monotonic() + turn.clock.left_s(turn.request.deadline_s),
        )


def _written(generation: Generation, clock: Clock) -> Iterator[Waiting | Token]:
    for place in generation.places():
        yield Waiting(place, generation.remaining_s())
    for piece in generation:
        clock.mark_once("first_token")
        yield Token(piece)
