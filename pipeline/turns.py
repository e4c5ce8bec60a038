"""A request on its way to a reply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pipeline.answer.contradictions import Contradiction, with_contradictions
from pipeline.answer.extractive import extractive_answer
from pipeline.clock import Clock
from pipeline.messages import text
from pipeline.replies import sources_of
from pipeline.types import Answer, AskRequest, Evidence, Language, Query, Reply

__all__ = ["EXTRACTIVE", "Found", "Turn"]

EXTRACTIVE = "extractive"
"""What ``Reply.model`` says of an answer made of the sources' own sentences."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One request on its way."""

    request: AskRequest
    cancelled: Callable[[], bool]
    clock: Clock


@dataclass(frozen=True, slots=True)
class Found:
    """What the knowledge base gave for a request; all its replies are made from this."""

    turn: Turn
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
        """The reply with this answer; ``note`` is a key of ``messages/answers.toml``."""
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
