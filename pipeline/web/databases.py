"""Questions over databases, besides asking them: a statement confirmed, a result to be kept, costs."""

from __future__ import annotations

import re
from dataclasses import asdict, replace

from pipeline.errors import NotFoundError
from pipeline.web import background, jsontext, replies, schemas
from pipeline.web.bodies import read_object
from pipeline.web.exchange import Context, Response
from pipeline.web.fields import refuse, text_of
from pipeline.web.originals import attachment

__all__ = ["confirm", "costs", "table_csv"]

STATEMENT_LIMIT = 10_000

_FIELDS = frozenset({"format", "deadline_s"})

_ID = re.compile(r"[0-9a-f]{32}")


def confirm(context: Context) -> Response:
    """``POST /ask/{id}/confirm``: run a statement that waited, or in its place ``sql`` of the body.

    The other fields are those of ``POST /ask`` that say how the reply is written, and until when.
    """
    in_background = background.wanted(context.request.query)
    body = read_object(context.request.body, context.request.headers) if context.request.body.strip() else {}
    given = body.get("sql")
    statement = "" if given is None else text_of("sql", given).strip()
    if len(statement) > STATEMENT_LIMIT:
        refuse("sql", "field_length", limit=STATEMENT_LIMIT)
    # Of a field that is none of these a note tells: nobody takes a statement for edited that was not.
    told = {name for name in body if name in _FIELDS or name not in schemas.FIELDS} - {"sql"}
    parsed = schemas.parse(
        # The question is kept with the statement; this one only stands in its place.
        {**{name: body[name] for name in told}, "question": "?"},
        language=context.language,
        client=context.request.client,
        request_id=context.request_id,
    )
    asked = replace(parsed, request=replace(parsed.request, confirmed=_id(context), statement=statement))
    if in_background:
        return background.accepted(context, asked)
    reply = context.service.ask(asked.request, context.request.cancelled)
    return Response(200, jsontext.dumps(replies.rendered(context, asked.style, reply)))


def table_csv(context: Context) -> Response:
    """``GET /ask/{id}/table.csv``: a result as a file for spreadsheets; its id stands in the reply."""
    # With them comes sqlite3, which serving does without.
    from pipeline.sql.runner import ResultTable
    from pipeline.sql.table_file import csv_bytes

    table = context.service.result(_id(context))
    result = ResultTable(table.labels or table.columns, (), table.rows)
    return attachment(csv_bytes(result, context.language), "table.csv", "text/csv; charset=utf-8")


def costs(context: Context) -> Response:
    """``GET /costs``: tokens, calls and seconds per day, route and strategy, the newest day first."""
    days = [asdict(day) for day in context.service.costs()]
    return Response(200, jsontext.dumps({"days": days, "status": "ok"}))


def _id(context: Context) -> str:
    name = context.params["id"]
    if _ID.fullmatch(name) is None:
        raise NotFoundError(what=name[:64])
    return name
