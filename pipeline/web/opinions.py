"""What people thought of answers: kept on this machine, exported as a file of known questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import orjson

from pipeline.library.feedback import Feedback, Verdict
from pipeline.understand import QUESTION_LIMIT
from pipeline.web import jsontext
from pipeline.web.bodies import read_object
from pipeline.web.exchange import Context, Response
from pipeline.web.fields import refuse, text_of
from pipeline.web.originals import attachment

__all__ = ["export", "keep"]

_COMMENT_LIMIT = 2000
_ANSWER_LIMIT = 20_000
_SHORT = 400
_FILES = 20


def keep(context: Context) -> Response:
    """``POST /feedback``: 201, and the opinion stands in ``feedback.jsonl``.

    Raises:
        InvalidRequestError: A field has a wrong type or value.
        NotWrittenError: The disk is full or closed to writing.
    """
    body = read_object(context.request.body, context.request.headers)
    context.library().feedback.add(_opinion(body))
    return Response(201, jsontext.dumps({"kept": True, "status": "ok"}))


def export(context: Context) -> Response:
    """``GET /feedback/export``: one JSON object a line, as ``otvet eval`` reads them."""
    lines = [orjson.dumps(line) for line in context.library().feedback.known_questions()]
    return attachment(b"".join(line + b"\n" for line in lines), "feedback.questions.jsonl")


def _opinion(body: Mapping[str, object]) -> Feedback:
    question = _text(body, "question", QUESTION_LIMIT).strip()
    if not question:
        refuse("question", "field_missing")
    verdict = next((known for known in get_args(Verdict) if known == body.get("verdict")), None)
    if verdict is None:
        refuse("verdict", "field_verdict")
    files = body.get("files") or []
    if not isinstance(files, list) or len(files) > _FILES:
        refuse("files", "field_texts")
    return Feedback(
        question=question,
        verdict=verdict,
        comment=_text(body, "comment", _COMMENT_LIMIT),
        # An answer is kept to remind of what was judged: a long one need not be whole.
        answer=text_of("answer", body.get("answer") or "")[:_ANSWER_LIMIT],
        outcome=_text(body, "outcome", _SHORT),
        files=tuple(text_of("files", file)[:_SHORT] for file in files),
        right_file=_text(body, "right_file", _SHORT).strip(),
        kb_version=_text(body, "kb_version", _SHORT),
        model=_text(body, "model", _SHORT),
    )


def _text(body: Mapping[str, object], name: str, limit: int) -> str:
    value = text_of(name, body.get(name) or "")
    if len(value) > limit:
        refuse(name, "field_length", limit=limit)
    return value
