"""What each address does. An operation takes a context and returns a response, or raises."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import orjson

from pipeline import __version__
from pipeline.errors import GeneratorError, NotReadyError, OtvetError
from pipeline.messages import Phrase
from pipeline.types import Event
from pipeline.web import background, jsontext, measures, problems, replies, schemas
from pipeline.web.bodies import read_object
from pipeline.web.events import EventStream
from pipeline.web.exchange import Context, Response
from pipeline.web.files import page_file, static_file
from pipeline.web.originals import original_file, passage
from pipeline.web.pages import source_page

__all__ = [
    "ask",
    "health",
    "metrics",
    "openapi",
    "page",
    "ready",
    "search",
    "source",
    "static",
    "status",
    "stream",
]


def ask(context: Context) -> Response:
    """``POST /ask``: the whole reply at once, or with ``async=1`` the id under which it will be found."""
    in_background = background.wanted(context.request.query)
    parsed = _parsed(context, read_object(context.request.body, context.request.headers))
    if in_background:
        return background.accepted(context, parsed)
    if parsed.key is None:
        reply = context.service.ask(parsed.request, context.request.cancelled)
    else:
        # What has a key goes on when its caller gives up waiting: the next try finds it further on.
        job = context.jobs.submit(parsed.request, parsed.style, parsed.key)
        reply = context.jobs.result(job, context.request.cancelled)
    return Response(200, jsontext.dumps(replies.rendered(context, parsed.style, reply)))


def stream(context: Context) -> Response:
    """``POST /ask/stream``: the same as server-sent events."""
    parsed = _parsed(context, read_object(context.request.body, context.request.headers))

    def start(unwanted: Callable[[], bool]) -> Iterator[Event]:
        if parsed.key is None:
            return context.service.stream(parsed.request, unwanted)
        return context.jobs.follow(context.jobs.submit(parsed.request, parsed.style, parsed.key), unwanted)

    events: Iterator[bytes] = EventStream(
        start,
        context.request.cancelled,
        lambda reply: replies.rendered(context, parsed.style, reply),
        lambda error: problems.problem(error, context.language, context.request_id),
    )
    # A proxy that gathers the answer before passing it on would undo the streaming.
    return Response(200, events, "text/event-stream; charset=utf-8", {"X-Accel-Buffering": "no"})


def search(context: Context) -> Response:
    """``GET /search``: sources only; the fields of ``POST /ask`` as parameters, ``q`` for the question."""
    fields = schemas.from_query(context.request.query) | {"use_RAG": False}
    parsed = _parsed(context, fields)
    reply = context.service.ask(parsed.request, context.request.cancelled)
    return Response(200, jsontext.dumps(replies.rendered(context, parsed.style, reply)))


def source(context: Context) -> Response:
    """``GET /source/{chunk_id}``: the passage highlighted in its document."""
    view = passage(context)
    kept = original_file(context.settings.knowledge_base, view.document.file)
    return source_page(view, context.language, with_original=kept is not None)


def health(context: Context) -> Response:
    """``GET /health``: the process answers, and its generator is not stuck.

    Raises:
        GeneratorError: It is.
    """
    if context.service.stuck():
        raise GeneratorError(reason=Phrase("generator_silent"))
    return Response(200, jsontext.dumps({"status": "ok"}))


def ready(context: Context) -> Response:
    """``GET /ready``: a search can be answered.

    Raises:
        NotReadyError: Not yet.
        OtvetError: It never will be, with the reason.
    """
    if not context.service.ready():
        raise NotReadyError(what=Phrase("loading"))
    return Response(200, jsontext.dumps({"ready": True, "status": "ok"}))


def status(context: Context) -> Response:
    """``GET /status``: models, index, queue and memory."""
    found = {"version": __version__, "ready": _is_ready(context)} | context.service.status()
    found.pop("status", None)
    return Response(200, jsontext.dumps(found | {"status": "ok"}))


def metrics(context: Context) -> Response:
    """``GET /metrics``: counts, times, line and memory for Prometheus."""
    families = (
        *context.meter.families(),
        *measures.service_families(context.service.status(), ready=_is_ready(context)),
        *measures.job_families(context.jobs.status()),
    )
    return Response(200, measures.write(families), measures.TEXT)


def page(context: Context) -> Response:
    """``GET /``: the page."""
    return page_file("index.html", context.request.headers)


def static(context: Context) -> Response:
    """``GET /static/…``: the page's files."""
    return static_file(context.params["path"], context.request.headers)


def openapi(context: Context) -> Response:
    """``GET /openapi.json``: this contract for programs."""
    from pipeline.web.openapi import document

    return Response(200, orjson.dumps(document()))


def _is_ready(context: Context) -> bool:
    try:
        return context.service.ready()
    except OtvetError:  # it never will be; what the service says of itself names the reason
        return False


def _parsed(context: Context, fields: dict[str, object]) -> schemas.Parsed:
    return schemas.parse(
        fields,
        language=context.language,
        client=context.request.client,
        request_id=context.request_id,
        key=context.request.headers.get("idempotency-key", "").strip(),
    )
