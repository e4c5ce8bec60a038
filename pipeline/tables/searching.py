"""Routes ``search`` and ``hybrid``: the way over documents, limited before it ranks."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from pipeline.sql.catalog import Table
from pipeline.sql.guard import Guarded, guard
from pipeline.sql.known import Words, known_over
from pipeline.sql.names import table_terms
from pipeline.tables.computing import held
from pipeline.tables.rows import MOST_ROWS, RowsQuery, rows_query, text_tables
from pipeline.tables.tools import Plain, Tools
from pipeline.tables.turn import Turn
from pipeline.text.stems import keyword_terms
from pipeline.types import Event, Filter, Finished, Retrieved, Routed

__all__ = ["limited_search", "rows_wanted", "search_within", "within_rows"]


def limited_search(turn: Turn, plain: Plain) -> Iterator[Event]:
    """Route ``search``: only among documents of the categories that the question names, if it names any."""
    request = replace(turn.request, filter=_of_categories(turn))
    yield from _told(turn, plain(request), "")


def within_rows(turn: Turn, tools: Tools, plain: Plain) -> Generator[Event, None, None]:
    """Route ``hybrid``: a statement selects the rows, the search ranks among them and nowhere else."""
    wanted = rows_wanted(turn)
    if wanted is None:
        turn.route = "search"
        yield from limited_search(turn, plain)
        return
    guarded = turn.database.check(wanted.statement)
    confirm = turn.request.confirm_sql
    if confirm if confirm is not None else tools.settings.confirm:
        yield Finished(held(turn, tools, guarded, wanted.table.name))
        return
    yield from search_within(turn, wanted.table, guarded, plain)


def search_within(turn: Turn, table: Table, guarded: Guarded, plain: Plain) -> Generator[Event, None, None]:
    """Run the statement that selects the rows, then search among them."""
    limits = replace(turn.limits(), rows=MOST_ROWS)
    result = turn.database.run(guard(guarded.sql, turn.catalog, MOST_ROWS), limits)
    turn.log.add("rows", str(len(result.rows)))
    if not result.rows:
        yield Finished(turn.reply(turn.say("sql_no_rows"), "not_found", turn.routed(sql=guarded.sql)))
        return
    keys = tuple(str(row[0]) for row in result.rows if row[0] is not None)
    given = turn.request.filter or Filter()
    wanted = replace(
        given,
        path_prefix=given.path_prefix or turn.database.source.documents_of(table.name),
        metadata={**given.metadata, "table": table.name, "row_id": keys},
    )
    yield from _told(turn, plain(replace(turn.request, filter=wanted)), guarded.sql)


def rows_wanted(turn: Turn) -> RowsQuery | None:
    """The rows of the table of texts that the question is about; None where it limits them in no way.

    Of several such tables it is the one that most conditions hold for; to be named counts as two of them.
    """
    said = frozenset(keyword_terms(turn.question))
    words = _without_titles(turn)
    best: RowsQuery | None = None
    most = 0
    for table in text_tables(turn.catalog):
        near = [table, *(turn.catalog.tables[key.table] for key in table.foreign)]
        known = known_over(words, near, turn.question, turn.catalog.dialect)
        found = rows_query(turn.catalog, table, known, turn.question)
        points = (
            1 + sum(condition.sure for condition in known.conditions) + 2 * bool(said & table_terms(table))
        )
        if found is not None and points > most:
            best, most = found, points
    return best


def _without_titles(turn: Turn) -> Words:
    """The words of the question, save those that only are the title of some text.

    A title is what the search ranks by. As a condition, one common word of the question that happens to be
    the title of another text («мост») would leave no row at all.
    """
    titles = {
        (one.table, one.title.casefold()) for one in turn.database.source.table if one.text and one.title
    }
    kept = tuple(value for value in turn.words.values if (value.table, value.column.casefold()) not in titles)
    return replace(turn.words, values=kept)


def _of_categories(turn: Turn) -> Filter | None:
    """The request's own filter, and the categories that the question names beyond doubt."""
    given = turn.request.filter
    for table in text_tables(turn.catalog):
        declared = next(one for one in turn.database.source.table if one.table == table.name)
        mirrored = {name.casefold() for name in declared.metadata}
        wanted = {
            value.column: value.value
            for value in turn.words.values
            if value.sure and value.table == table.name and value.column.casefold() in mirrored
        }
        if wanted:
            given = given or Filter()
            return replace(
                given,
                path_prefix=given.path_prefix or turn.database.source.documents_of(table.name),
                metadata={**wanted, **given.metadata},
            )
    return given


def _told(turn: Turn, events: Iterator[Event], statement: str) -> Iterator[Event]:
    """The events of a search, with the way that the question took."""

    def routed() -> Routed:
        return turn.routed(sql=statement)

    for event in events:
        match event:
            case Retrieved(reply):
                turn.log.add("search", str(len(reply.sources)))
                yield Retrieved(turn.joined(reply, routed()))
            case Finished(reply):
                turn.log.add("answer", reply.answer.outcome, reply.tokens)
                yield Finished(turn.joined(reply, routed()))
            case _:
                yield event
