"""Questions over declared databases: which way each goes, and how that way is walked.

A few fixed steps, none of them an agent's own idea: words → route → (schema → statement → result), (rows →
search) or search. The model is asked three times at most, every time with a deadline, and everything that
happened stands in the reply.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace

from pipeline.errors import DatabaseUnknownError, OtvetError
from pipeline.messages import text
from pipeline.sql.database import find_database
from pipeline.sql.known import unclear_value
from pipeline.sql.understood import words_of
from pipeline.tables.computing import compute, shown
from pipeline.tables.model import RouteModel
from pipeline.tables.router import choose_database, choose_route
from pipeline.tables.searching import limited_search, search_within, within_rows
from pipeline.tables.spoken import clarification
from pipeline.tables.tools import Plain, Tools
from pipeline.tables.turn import Turn
from pipeline.text.language import detect_language
from pipeline.types import AskRequest, Event, Failed, Finished, Reply, TableView, Waiting
from pipeline.understand import understand

__all__ = ["Tables"]

logger = logging.getLogger(__name__)


class Tables:
    """Answers questions over databases. Safe to call from many threads."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    @property
    def tools(self) -> Tools:
        """Databases, models, and what is kept."""
        return self._tools

    def concerns(self, request: AskRequest) -> bool:
        """Whether a request is routed: one that wants a written answer, or names a route or database."""
        tools = self._tools
        if request.prompt is not None or not tools.databases or not tools.settings.enabled:
            return False
        named = bool(request.route or request.confirmed or request.database or request.confirm_sql)
        return named or (request.use_rag and tools.worker is not None)

    def result(self, name: str) -> TableView:
        """The result of an id, for some minutes.

        Raises:
            NotFoundError: There is none, or no more.
        """
        return self._tools.results.get(name)

    def stream(self, request: AskRequest, cancelled: Callable[[], bool], plain: Plain) -> Iterator[Event]:
        """The events of a request; what is wrong with it is raised before the first one.

        Args:
            request: ``concerns`` it.
            cancelled: Polled at every token and while waiting.
            plain: The way over documents.

        Raises:
            RequestError: The request cannot be carried out as it stands.
            NotFoundError: There is no such statement to be confirmed.
        """
        if request.confirmed:
            return self._costed(*self._confirmed(request, cancelled, plain))
        tools = self._tools
        if request.database and request.database not in tools.databases:
            raise DatabaseUnknownError(what=request.database, known=", ".join(sorted(tools.databases)))
        try:
            turn = self.turn(request, cancelled)
        except OtvetError as error:
            if request.database or request.route in ("sql", "hybrid"):
                raise
            # The texts can be searched all the same.
            logger.warning("%s", error)
            reason = text(
                "answers", "note_database_unusable", request.language, name=error.values.get("name", "")
            )
            return _noted(plain(request), reason)
        return self._costed(turn, self._walked(turn, plain))

    def route_of(self, request: AskRequest, cancelled: Callable[[], bool] = lambda: False) -> Turn:
        """The turn of a request up to its route, nothing run: for whoever measures that.

        Raises:
            OtvetError: The database cannot be read.
        """
        turn = self.turn(request, cancelled)
        for _ in choose_route(turn, self._tools):
            pass
        return turn

    def turn(self, request: AskRequest, cancelled: Callable[[], bool]) -> Turn:
        """A request with its database chosen and its words understood; no route yet.

        Raises:
            OtvetError: The database cannot be read.
        """
        query = understand(request)
        database, catalog = choose_database(query.text, self._tools, request.database)
        model = self._model(request, cancelled)
        turn = Turn(request, query, detect_language(query.text), cancelled, model, database, catalog)
        turn.words = words_of(turn.question, catalog, self._tools.today())
        turn.log.add("words", turn.words.said())
        return turn

    def _model(self, request: AskRequest, cancelled: Callable[[], bool]) -> RouteModel | None:
        tools = self._tools
        if tools.worker is None:
            return None
        until = time.monotonic() + request.deadline_s
        return RouteModel(tools.worker.get(), request.client, until, tools.settings.step_seconds, cancelled)

    def _walked(self, turn: Turn, plain: Plain) -> Generator[Event, None, None]:
        yield from choose_route(turn, self._tools)
        if turn.route == "sql":
            turn.unclear = unclear_value(turn.words, turn.catalog, turn.question)
            turn.route = "clarify" if turn.unclear else "sql"
        match turn.route:
            case "clarify":
                clarify = clarification(turn)
                yield Finished(turn.reply(clarify.question, "not_found", turn.routed(clarify=clarify)))
            case "sql":
                yield Finished((yield from compute(turn, self._tools)))
            case "hybrid":
                yield from within_rows(turn, self._tools, plain)
            case "search":
                yield from limited_search(turn, plain)

    def _confirmed(
        self, request: AskRequest, cancelled: Callable[[], bool], plain: Plain
    ) -> tuple[Turn, Generator[Event, None, None]]:
        """A statement that waited, as it stands or as a person has edited it; the guard reads it again."""
        tools = self._tools
        pending = tools.pending.get(request.confirmed)
        asked = replace(
            pending.request,
            request_id=request.request_id,
            client=request.client,
            language=request.language,
            deadline_s=request.deadline_s,
        )
        query = understand(asked)
        database = find_database(tools.databases, pending.database)
        model = self._model(asked, cancelled)
        turn = Turn(asked, query, detect_language(query.text), cancelled, model, database, database.catalog())
        turn.route = "hybrid" if pending.table else "sql"
        guarded = database.check(request.statement or pending.statement)

        def events() -> Generator[Event, None, None]:
            # Nothing is wrong with the request: whoever asked in the background need not wait for the rows.
            yield Waiting(0, 0.0)
            if pending.table:
                yield from search_within(turn, turn.catalog.tables[pending.table], guarded, plain)
                return
            result = database.run(guarded, turn.limits())
            turn.log.add("run", str(len(result.rows)))
            yield Finished(shown(turn, tools, guarded, result))

        return turn, events()

    def _costed(self, turn: Turn, events: Iterator[Event]) -> Iterator[Event]:
        """The events, an error as the last one among them, and what they cost added to the sums."""
        try:
            for event in events:
                if isinstance(event, Finished):
                    strategy = self._tools.settings.tables if turn.route == "sql" else ""
                    self._tools.costs.add(turn.route, strategy, turn.log.steps)
                yield event
        except OtvetError as error:
            yield Failed(error)


def _noted(events: Iterator[Event], note: str) -> Iterator[Event]:
    for event in events:
        yield Finished(_with_note(event.reply, note)) if isinstance(event, Finished) else event


def _with_note(reply: Reply, note: str) -> Reply:
    return replace(reply, notes=(*reply.notes, note))
