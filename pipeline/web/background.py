"""Questions asked in the background: an id at once, the state on demand, in the end the reply."""

from __future__ import annotations

from pipeline.jobs import Job, View
from pipeline.web import jsontext, problems, replies, schemas
from pipeline.web.exchange import Context, Response

__all__ = ["POLL_LIMITS_S", "accepted", "state", "wanted", "withdraw"]

POLL_LIMITS_S = (1, 10)
_SHOWN_ID = 64


def wanted(query: bytes) -> bool:
    """True when the address of ``POST /ask`` says ``async=1``.

    Raises:
        InvalidRequestError: Another value than yes or no.
    """
    if b"async" not in query:
        return False
    return schemas.switch("async", schemas.from_query(query).get("async"))


def accepted(context: Context, parsed: schemas.Parsed) -> Response:
    """``POST /ask?async=1``: 202 with the state of the question, once it is in the line."""
    job = context.jobs.submit(parsed.request, parsed.style, parsed.key)
    return _written(context, job, 202)


def state(context: Context) -> Response:
    """``GET /ask/{id}``: the state of a question, and all that is known of its reply."""
    return _written(context, _found(context), 200)


def withdraw(context: Context) -> Response:
    """``DELETE /ask/{id}``: the question is given up; one that has ended stays as it is."""
    job = _found(context)
    job.cancel()
    return _written(context, job, 200)


def _found(context: Context) -> Job[schemas.Style]:
    return context.jobs.find(context.params["id"][:_SHOWN_ID])


def _written(context: Context, job: Job[schemas.Style], status: int) -> Response:
    view = job.view()
    reply = view.reply or view.found
    shown = replies.rendered(context, job.tag, reply) if reply else {"sources": []}
    body = {
        "id": job.id,
        "state": view.state,
        "place": view.place,
        "estimate_s": None if view.estimate_s is None else round(view.estimate_s, 1),
        "poll_after_s": _poll_after_s(view),
        "text": view.text,
        "sources": shown["sources"],
        "reply": shown if view.reply else None,
        "failure": view.error and problems.problem(view.error, context.language, context.request_id),
        "request_id": context.request_id,
        "status": "ok",
    }
    return Response(status, jsontext.dumps(body))


def _poll_after_s(view: View) -> int | None:
    """Often enough to miss little of the end, seldom enough to cost nothing."""
    if view.ended:
        return None
    low, high = POLL_LIMITS_S
    return min(high, max(low, round((view.estimate_s or 0.0) / 3)))
