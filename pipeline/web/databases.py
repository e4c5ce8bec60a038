"""Questions over databases, besides asking them: a statement confirmed, a result to be kept, costs."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import asdict, replace

from pipeline.errors import NotFoundError
from pipeline.types import Language, TableView
from pipeline.web import background, jsontext, replies, schemas
from pipeline.web.bodies import read_object
from pipeline.web.exchange import Context, Response
from pipeline.web.fields import refuse, text_of
from pipeline.web.originals import attachment

__all__ = ["confirm", "costs", "table_csv"]

STATEMENT_LIMIT = 10_000

_ID = re.compile(r"[0-9a-f]{32}")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def confirm(context: Context) -> Response:
    """``POST /ask/{id}/confirm``: run a statement that waited, or in its place ``sql`` of the body.

    The other fields are those of ``POST /ask`` that say how the reply is written, and until when.
    """
    in_background = background.wanted(context.request.query)
    body = read_object(context.request.body, context.request.headers) if context.request.body.strip() else {}
    statement = text_of("sql", body.get("sql") or "").strip()
    if len(statement) > STATEMENT_LIMIT:
        refuse("sql", "field_length", limit=STATEMENT_LIMIT)
    fields = {name: value for name, value in body.items() if name in ("format", "deadline_s")}
    parsed = schemas.parse(
        # The question is kept with the statement; this one only stands in its place.
        {**fields, "question": "?"},
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
    table = context.service.result(_id(context))
    return attachment(csv_of(table, context.language), "table.csv", "text/csv; charset=utf-8")


def costs(context: Context) -> Response:
    """``GET /costs``: tokens, calls and seconds per day, route and strategy, the newest day first."""
    days = [asdict(day) for day in context.service.costs()]
    return Response(200, jsontext.dumps({"days": days, "status": "ok"}))


def csv_of(table: TableView, language: Language) -> bytes:
    """A result as CSV, as spreadsheets of the language expect it: Russian ones part cells by semicolons.

    A text that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=";" if language == "ru" else ",")
    writer.writerow([_cell(name, language) for name in table.columns])
    writer.writerows([_cell(value, language) for value in row] for row in table.rows)
    return out.getvalue().encode("utf-8-sig")


def _cell(value: str | float | bool | None, language: Language) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    if isinstance(value, bool):
        return str(int(value))
    # What never has an exponent: a spreadsheet takes 1e-05 for a text where decimals have a comma.
    text = f"{value:.10f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return text.replace(".", ",") if language == "ru" else text


def _id(context: Context) -> str:
    name = context.params["id"]
    if _ID.fullmatch(name) is None:
        raise NotFoundError(what=name[:64])
    return name
