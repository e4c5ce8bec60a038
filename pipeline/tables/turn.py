"""One question over databases on its way, and the replies made of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pipeline.messages import text
from pipeline.sql.catalog import Catalog
from pipeline.sql.chart import chart_of
from pipeline.sql.database import Database
from pipeline.sql.known import Value, Words
from pipeline.sql.runner import Limits
from pipeline.tables.model import RouteModel, StepLog
from pipeline.types import (
    Answer,
    AskRequest,
    Clarification,
    Confirmation,
    Language,
    Outcome,
    Query,
    Reply,
    Route,
    Routed,
    TableView,
)

__all__ = ["Turn"]

_LEAST_S = 0.5  # for a statement, however late it is: most take a few milliseconds


@dataclass(slots=True)
class Turn:
    """What is known of a question so far.

    Attributes:
        request: As it came.
        query: The same, understood.
        language: Of the question: the answer is in it.
        model: None in a profile without a generator.
        database: The one that is asked; ``catalog`` is what it holds.
        words: What the question's words mean there.
        unclear: What one and the same words may stand for, where the caller has to say.
        kind: The model's name, for ``Reply.model``.
    """

    request: AskRequest
    query: Query
    language: Language
    cancelled: Callable[[], bool]
    model: RouteModel | None
    database: Database
    catalog: Catalog
    words: Words = field(default_factory=Words)
    route: Route = "search"
    unclear: tuple[Value, ...] = ()
    kind: str = ""
    log: StepLog = field(default_factory=StepLog)
    notes: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    @property
    def question(self) -> str:
        """Without flags."""
        return self.query.text

    def limits(self) -> Limits:
        """Bounds of a statement that runs now: those of the settings, and the request's deadline."""
        rest_s = self.request.deadline_s - (time.monotonic() - self.started)
        given = self.database.limits
        return replace(given, seconds=round(max(min(given.seconds, rest_s), _LEAST_S), 1))

    def say(self, key: str, **values: object) -> str:
        """A text of ``answers.toml`` in the question's language."""
        return text("answers", key, self.language, "", **values)

    def note(self, key: str, **values: object) -> None:
        """Tell the caller something about how it went, in the caller's language."""
        self.notes.append(text("answers", key, self.request.language, "", **values))

    def routed(
        self,
        *,
        sql: str = "",
        table: TableView | None = None,
        confirm: Confirmation | None = None,
        clarify: Clarification | None = None,
        result: str = "",
    ) -> Routed:
        """How it was answered, up to now."""
        return Routed(
            route=self.route,
            steps=tuple(self.log.steps),
            database=self.database.name,
            sql=sql,
            table=table,
            chart=chart_of(table) if table else None,
            confirm=confirm,
            clarify=clarify,
            result=result,
        )

    def reply(self, answer: str, outcome: Outcome, routed: Routed) -> Reply:
        """A reply without sources."""
        laps: dict[str, float] = {}
        for step in self.log.steps:
            laps[step.name] = laps.get(step.name, 0.0) + step.seconds * 1000
        return Reply(
            question=self.question,
            flags=self.query.flags,
            answer=Answer(answer, outcome),
            sources=(),
            timings_ms={**laps, "total": (time.monotonic() - self.started) * 1000},
            model=self.kind,
            kb_version=self.catalog.fingerprint,
            request_id=self.request.request_id,
            notes=tuple(self.notes),
            routed=routed,
        )

    def joined(self, reply: Reply, routed: Routed) -> Reply:
        """A reply of the way over documents, with how the question came there."""
        return replace(reply, notes=(*self.notes, *reply.notes), routed=routed)
