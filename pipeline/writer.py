"""What the language model does for a request: its prompt, its words as events, and their check."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator
from dataclasses import replace

from pipeline.answer.compose import compose
from pipeline.answer.lasting import first_source_lasts, sources_last
from pipeline.answer.prompt import Prompt, build_data_prompt, build_prompt
from pipeline.answer.quotation import with_quotation
from pipeline.answer.second_look import ANSWERS, is_doubtful, second_look, states_answer
from pipeline.clock import Clock
from pipeline.errors import BusyError, CancelledError, NotReadyError, OtvetError
from pipeline.generators.generation import Generation
from pipeline.generators.worker import GeneratorWorker
from pipeline.lazy import Lazy
from pipeline.messages import Phrase, text
from pipeline.ports import Embedder, GeneratorSpec, Sampling
from pipeline.retrieval.room import Room
from pipeline.settings import Settings
from pipeline.text.language import detect_language
from pipeline.turns import EXTRACTIVE, Found, Turn
from pipeline.types import Answer, Event, Evidence, Failed, Finished, Query, Reply, Token, Waiting

__all__ = ["Writer"]

logger = logging.getLogger(__name__)


class Writer:
    """Has answers written. Thread-safe.

    Args:
        worker: Starts the generator's worker; None in a profile without a generator.
        settings: How long prompts and answers may be.
    """

    def __init__(self, worker: Lazy[GeneratorWorker] | None, settings: Settings) -> None:
        self._started = worker
        self._settings = settings

    def generator_id(self) -> str:
        """Who writes; empty where nobody is at hand."""
        worker = self._started.peek() if self._started else None
        return str(worker.status().get("model") or "") if worker else ""

    def room(self, query: Query, embedder: Embedder) -> Room:
        """What the prompt has left for sources, counted by the generator where one is ready."""
        empty = Evidence(hits=(), sentences=(), relevance=0.0, refused=False)
        prompt = self.prompt_of(query, empty)
        worker = self._started.peek() if self._started else None
        if prompt is None or worker is None:
            return Room.of(embedder, self.prompt_tokens)
        return Room(self.prompt_tokens - prompt.tokens, worker.count_tokens)

    @property
    def prompt_tokens(self) -> int:
        """Tokens of a prompt at most."""
        return self._settings.generator.context_tokens - self._settings.generator.answer_tokens

    def prompt_of(self, query: Query, evidence: Evidence) -> Prompt | None:
        """The prompt that would be sent; None where no generator is ready to count its tokens."""
        worker = self._started.peek() if self._started else None
        if worker is None or worker.state != "ready":
            return None
        language = detect_language(query.text)
        return build_prompt(query, evidence, language, worker.count_tokens, self.prompt_tokens)

    def generated(self, found: Found, extract: Answer) -> Iterator[Event]:
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
        yield Finished(replace(found.reply(answer, spec.id), tokens=(prompt.tokens, len(pieces))))

    def _second_look(self, worker: GeneratorWorker, found: Found) -> Generator[Event, None, bool]:
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

    def from_data(self, turn: Turn) -> Iterator[Event]:
        """The second input: the caller's own prompt over the caller's own data."""
        request = turn.request
        worker, spec = self._worker(turn)
        room = spec.context_tokens - self._settings.generator.answer_tokens
        prompt = build_data_prompt(
            request.prompt or "", request.data, request.question, worker.count_tokens, room
        )
        return self._data_events(turn, self._submit(worker, prompt, turn), spec.id)

    def _data_events(self, turn: Turn, generation: Generation, model: str) -> Iterator[Event]:
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

    def _worker(self, turn: Turn) -> tuple[GeneratorWorker, GeneratorSpec]:
        if self._started is None:
            raise NotReadyError(what=Phrase("no_generator"))
        worker = self._started.get()
        return worker, worker.wait_ready(turn.clock.left_s(turn.request.deadline_s), turn.cancelled)

    def _submit(self, worker: GeneratorWorker, prompt: Prompt, turn: Turn) -> Generation:
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
