"""Drafts of known questions over HTTP: proposed, looked at, accepted, dropped, brought back."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.errors import OtvetError
from pipeline.library.drafter import DrafterView, Wanted
from pipeline.library.drafts import Draft
from pipeline.types import AskRequest
from pipeline.understand import understand
from pipeline.web import jsontext, problems
from pipeline.web.bodies import read_object
from pipeline.web.exchange import Context, Response
from pipeline.web.fields import refuse, text_of
from pipeline.web.files import page_file

__all__ = ["accept", "bring_back", "drafts", "drop", "eval_page", "make"]

_MOST = 200
_ANSWERS = 20
_ANSWER_LIMIT = 400


def eval_page(context: Context) -> Response:
    """``GET /eval``: the page."""
    return page_file("eval.html", context.request.headers)


def drafts(context: Context) -> Response:
    """``GET /eval.json``: what waits to be looked at, what was dropped, and how many were accepted."""
    library = context.library()
    view = library.drafter.view()  # before the drafts: whoever reads "done" reads all that was made too
    known = library.drafts.all()
    body = {
        "drafts": [_shown(draft) for draft in known if not draft.dropped],
        "dropped": [_shown(draft) for draft in known if draft.dropped],
        "accepted": len(library.drafts.accepted()),
        "file": library.drafts.questions.name,
        "model": context.service.status().get("generator") is not None,
        "making": _making(context, view),
        "status": "ok",
    }
    return Response(200, jsontext.dumps(body))


def make(context: Context) -> Response:
    """``POST /eval/make`` with ``count``, ``foreign``, ``model``: 202, and drafts are made in the background.

    Raises:
        InvalidRequestError: A field has a wrong type or value.
    """
    body = read_object(context.request.body, context.request.headers)
    model = body.get("model", True)
    if not isinstance(model, bool):
        refuse("model", "field_boolean")
    usual = Wanted()
    wanted = Wanted(_number(body, "count", usual.count, 1), _number(body, "foreign", usual.foreign, 0), model)
    view = context.library().drafter.start(wanted)
    return Response(202, jsontext.dumps({"making": _making(context, view), "status": "ok"}))


def accept(context: Context) -> Response:
    """``POST /eval/accept`` with ``id``, and ``question`` and ``answer_any`` where they were edited.

    Raises:
        DraftUnknownError: There is no such draft.
        InvalidRequestError: It would be no question.
        NotWrittenError: The disk is full or closed to writing.
    """
    body = read_object(context.request.body, context.request.headers)
    question = answers = None
    if "question" in body:
        question = text_of("question", body["question"]).strip()
        try:
            understand(AskRequest(question=question))
        except OtvetError as error:
            refuse("question", "questions_question", code=error.code)
    if "answer_any" in body:
        answers = _answers(body["answer_any"])
    return _done(context.library().drafts.accept(_id(body), question, answers))


def drop(context: Context) -> Response:
    """``POST /eval/drop`` with ``id``; raises as ``accept``."""
    return _done(
        context.library().drafts.drop(_id(read_object(context.request.body, context.request.headers)))
    )


def bring_back(context: Context) -> Response:
    """``POST /eval/restore`` with ``id``: a draft again, dropped or accepted; raises as ``accept``."""
    body = read_object(context.request.body, context.request.headers)
    return _done(context.library().drafts.restore(_id(body)))


def _done(draft: Draft) -> Response:
    return Response(200, jsontext.dumps({"draft": _shown(draft), "status": "ok"}))


def _shown(draft: Draft) -> dict[str, object]:
    return {
        "id": draft.id,
        "question": draft.question,
        "made": draft.made,
        "files": list(draft.files),
        "answer_any": list(draft.answer_any),
        "passages": list(draft.passages),
        "kind": draft.kind,
        "chunk_id": draft.chunk_id,
    }


def _making(context: Context, view: DrafterView) -> dict[str, object]:
    failure = view.error and problems.problem(view.error, context.language, context.request_id)
    return {
        "phase": view.phase,
        "done": view.done,
        "total": view.total,
        "made": view.made,
        "failure": failure,
    }


def _id(body: Mapping[str, object]) -> str:
    return text_of("id", body.get("id", ""))


def _number(body: Mapping[str, object], name: str, usual: int, least: int) -> int:
    value = body.get(name, usual)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _MOST:
        refuse(name, "field_integer", low=least, high=_MOST)
    return value


def _answers(value: object) -> list[str]:
    if not isinstance(value, list) or len(value) > _ANSWERS:
        refuse("answer_any", "field_texts")
    texts = [text_of("answer_any", item).strip() for item in value]
    if any(len(text) > _ANSWER_LIMIT for text in texts):
        refuse("answer_any", "field_length", limit=_ANSWER_LIMIT)
    return [text for text in texts if text]
