"""Route ``sql``: schema, statement, its check, its result; one more attempt where it does not run."""

from __future__ import annotations

import logging
from collections.abc import Generator

from pipeline.errors import GeneratorMissingError, OtvetError, StatementFailedError, StatementRefusedError
from pipeline.sql.excerpt import Excerpt
from pipeline.sql.explanation import explain_statement
from pipeline.sql.guard import Guarded
from pipeline.sql.known import known_over
from pipeline.sql.runner import ResultTable
from pipeline.sql.schema_strategies import choose_tables
from pipeline.sql.sentence import sentence_of
from pipeline.sql.shots import nearest_examples
from pipeline.sql.write import Draft, draft_of, repair_of, statement_in
from pipeline.tables.kept import LIFETIME_S
from pipeline.tables.spoken import view_of
from pipeline.tables.tools import Pending, Tools
from pipeline.tables.turn import Turn
from pipeline.types import Confirmation, Event, Reply, Waiting

__all__ = ["compute", "draft_for", "excerpt_for", "held", "shown"]

logger = logging.getLogger(__name__)

Steps = Generator[Event, None, Reply]


def compute(turn: Turn, tools: Tools) -> Steps:
    """The reply of a question that a statement answers.

    Raises:
        GeneratorMissingError: There is no model to write it.
        OtvetError: The model or the database failed for good.
    """
    if turn.model is None:
        raise GeneratorMissingError
    turn.kind = turn.model.wait_ready()
    attempt = _Attempts(turn, tools)
    guarded = yield from attempt.checked()
    if guarded is None:
        return _no_statement(turn, attempt.statement)
    if turn.request.confirm_sql if turn.request.confirm_sql is not None else tools.settings.confirm:
        return held(turn, tools, guarded)
    try:
        return shown(turn, tools, guarded, attempt.run(guarded))
    except StatementFailedError as error:
        guarded = yield from attempt.repaired(error)
        if guarded is None:
            return _no_statement(turn, attempt.statement)
        return shown(turn, tools, guarded, attempt.run(guarded))


class _Attempts:
    """The statement of one question: written, repaired once, run."""

    def __init__(self, turn: Turn, tools: Tools) -> None:
        self._turn = turn
        self._tools = tools
        self._draft: Draft | None = None
        self._repaired = False
        self.statement = ""

    def checked(self) -> Generator[Event, None, Guarded | None]:
        """The statement as it may run; None where none came about."""
        turn = self._turn
        excerpt = excerpt_for(turn, self._tools)
        self._draft = draft_for(turn, self._tools, excerpt)
        shown_tables = ", ".join(table.name for table in excerpt.tables)
        turn.log.add("schema", f"{self._tools.settings.tables}: {shown_tables}")
        yield from self._write(self._draft, "write")
        try:
            return turn.database.check(self.statement)
        except StatementRefusedError as error:
            return (yield from self.repaired(error))

    def repaired(self, error: OtvetError) -> Generator[Event, None, Guarded | None]:
        """A second statement, made knowing what was wrong with the first; there is no third."""
        if self._draft is None or self._repaired:
            return None
        self._repaired = True
        yield from self._write(repair_of(self._draft, self.statement, error.message("en")), "repair")
        try:
            return self._turn.database.check(self.statement)
        except StatementRefusedError as again:
            logger.info("no statement: %s", again)
            return None

    def run(self, guarded: Guarded) -> ResultTable:
        """The result.

        Raises:
            StatementFailedError: It does not run.
        """
        result = self._turn.database.run(guarded, self._turn.limits())
        self._turn.log.add("run", str(len(result.rows)))
        return result

    def _write(self, draft: Draft, step: str) -> Generator[Event, None, None]:
        model = self._turn.model
        if model is None:
            raise GeneratorMissingError
        self.statement = ""
        for said in model.write(draft.messages, draft.sampling):
            if isinstance(said, Waiting):
                yield said
            else:
                self.statement = statement_in(said, self._turn.catalog)
        self._turn.log.add(step, self.statement, model.tokens)


def excerpt_for(turn: Turn, tools: Tools) -> Excerpt:
    """The tables that the prompt shows."""
    search = tools.schema(turn.catalog, turn.words.sure_tables)
    return choose_tables(search, turn.question, tools.settings.tables)


def draft_for(turn: Turn, tools: Tools, excerpt: Excerpt) -> Draft:
    """The prompt for a statement, with everything that is known already."""
    known = known_over(turn.words, excerpt.tables, turn.question, turn.catalog.dialect)
    examples = nearest_examples(turn.question, turn.catalog, excerpt, tools.embedder.get())
    return draft_of(turn.question, excerpt, known, turn.catalog, examples)


def held(turn: Turn, tools: Tools, guarded: Guarded, table: str = "") -> Reply:
    """The reply that asks a person first."""
    name = tools.pending.put(Pending(turn.request, turn.database.name, guarded.sql, table))
    explanation = explain_statement(guarded, turn.catalog, turn.request.language)
    confirm = Confirmation(name, explanation, LIFETIME_S)
    return turn.reply(explanation, "partial", turn.routed(sql=guarded.sql, confirm=confirm))


def shown(turn: Turn, tools: Tools, guarded: Guarded, result: ResultTable) -> Reply:
    """The reply with a result: a sentence above its table."""
    table = view_of(result, guarded, turn.catalog, turn.request.language)
    if not table.rows:
        return turn.reply(turn.say("sql_no_rows"), "not_found", turn.routed(sql=guarded.sql, table=table))
    sentence = sentence_of(guarded, result, turn.catalog, turn.language)
    name = tools.results.put(table)
    return turn.reply(sentence, "answered", turn.routed(sql=guarded.sql, table=table, result=name))


def _no_statement(turn: Turn, statement: str) -> Reply:
    return turn.reply(turn.say("sql_no_statement"), "not_found", turn.routed(sql=statement))
