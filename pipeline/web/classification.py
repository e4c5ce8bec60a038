"""``/classify``: texts sent once, labels fetched as they come."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pipeline.jobs import Batch, BatchView
from pipeline.types import Classified, ClassifyRequest, Language
from pipeline.web import jsontext, problems
from pipeline.web.background import POLL_LIMITS_S
from pipeline.web.bodies import read_object
from pipeline.web.exchange import Context, Response
from pipeline.web.fields import KEY_LIMIT, Field, boolean_of, key_of, notes_of, number_of, refuse, text_of
from pipeline.web.schemas import from_query

__all__ = [
    "CLASSIFY_FIELDS",
    "EXAMPLE_LIMIT",
    "LABEL_LIMIT",
    "PROMPT_LIMIT",
    "TEXT_LIMIT",
    "WAIT_LIMIT_S",
    "classify",
    "labels_so_far",
    "parse",
    "stop_classifying",
]

LABEL_LIMIT = 100
TEXT_LIMIT = 20_000
PROMPT_LIMIT = 4_000
EXAMPLE_LIMIT = 2_000
WAIT_LIMIT_S = 25
"""Less than the 30 seconds after which common libraries of 1C hang up."""

_DECIMALS = 4
_SHOWN_ID = 64

CLASSIFY_FIELDS: dict[str, Field] = {
    "labels": Field("texts", None, "What to choose from, all different.", 1, 50),
    "texts": Field("texts", None, "The texts, each on its own.", 1, 200),
    "prompt": Field("text", None, "What the task is, in your own words.", 0, PROMPT_LIMIT),
    "examples": Field("examples", None, "Texts with the right label; null: none of them.", 0, 50),
    "none": Field("boolean", True, "False: one of the labels always comes out."),
    "threshold": Field("number", None, "Least probability of a label; none: the calibrated rule.", 0, 1),
    "idempotency_key": Field("text", None, "A request repeated under it is answered once.", 0, KEY_LIMIT),
}


def classify(context: Context) -> Response:
    """``POST /classify``: 202 with the id under which the labels will be found."""
    body = read_object(context.request.body, context.request.headers)
    request = parse(
        body, language=context.language, client=context.request.client, request_id=context.request_id
    )
    header = context.request.headers.get("idempotency-key", "").strip()
    key = key_of(body, CLASSIFY_FIELDS, header, context.request.client)
    batch = context.batches.submit(request, notes_of(body, CLASSIFY_FIELDS, context.language), key)
    return _written(context, batch, 202)


def labels_so_far(context: Context) -> Response:
    """``GET /classify/{id}``: how far it is, and all labels known so far.

    With ``wait=`` seconds the reply comes when all texts are done, but not later than that: 1C has no pause.
    """
    batch = _found(context)
    context.batches.wait_ended(batch, _wait_s(context.request.query), context.request.cancelled)
    return _written(context, batch, 200)


def stop_classifying(context: Context) -> Response:
    """``DELETE /classify/{id}``: the rest is given up; what was done stays."""
    batch = _found(context)
    batch.cancel()
    return _written(context, batch, 200)


def parse(
    body: Mapping[str, object], *, language: Language, client: str = "", request_id: str = ""
) -> ClassifyRequest:
    """Read the fields of ``POST /classify``.

    Args:
        body: A JSON object with clean texts.
        language: Language of messages.
        client: Tells callers apart for a fair queue.
        request_id: Goes into the log.

    Raises:
        InvalidRequestError: A field has a wrong type or value; the error names it.
    """
    threshold = body.get("threshold")
    prompt = text_of("prompt", body.get("prompt") or "")
    if len(prompt) > PROMPT_LIMIT:
        refuse("prompt", "field_length", limit=PROMPT_LIMIT)
    labels = _labels(body)
    return ClassifyRequest(
        labels=labels,
        texts=_list(body, "texts", TEXT_LIMIT),
        prompt=prompt or None,
        examples=_examples(body.get("examples"), labels),
        none=boolean_of(body, CLASSIFY_FIELDS, "none"),
        threshold=None if threshold is None else number_of(body, CLASSIFY_FIELDS, "threshold"),
        language=language,
        client=client,
        request_id=request_id,
    )


def _wait_s(query: bytes) -> float:
    text = str(from_query(query).get("wait") or "0")
    if re.fullmatch(r"\d{1,2}(\.\d{1,3})?", text) is None or float(text) > WAIT_LIMIT_S:
        refuse("wait", "field_number", low=0, high=WAIT_LIMIT_S)
    return float(text)


def _found(context: Context) -> Batch:
    return context.batches.find(context.params["id"][:_SHOWN_ID])


def _labels(body: Mapping[str, object]) -> tuple[str, ...]:
    labels = tuple(" ".join(label.split()) for label in _list(body, "labels", LABEL_LIMIT))
    seen: set[str] = set()
    for n, label in enumerate(labels, 1):
        if not label:
            refuse(f"labels[{n}]", "field_blank")
        if label.casefold() in seen:
            refuse(f"labels[{n}]", "field_twice", value=label)
        seen.add(label.casefold())
    return labels


def _examples(value: object, labels: tuple[str, ...]) -> tuple[tuple[str, str | None], ...]:
    high = CLASSIFY_FIELDS["examples"].high
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > high:
        refuse("examples", "field_examples", high=high)
    return tuple(_example(f"examples[{n}]", item, labels) for n, item in enumerate(value, 1))


def _example(name: str, item: object, labels: tuple[str, ...]) -> tuple[str, str | None]:
    if not isinstance(item, dict):
        refuse(name, "field_object")
    text, label = text_of(f"{name}.text", item.get("text")).strip(), item.get("label")
    if not text:
        refuse(f"{name}.text", "field_blank")
    if len(text) > EXAMPLE_LIMIT:
        refuse(f"{name}.text", "field_length", limit=EXAMPLE_LIMIT)
    if label is None:
        return text, None
    known = " ".join(text_of(f"{name}.label", label).split())
    if known not in labels:
        refuse(f"{name}.label", "field_no_label", value=known[:LABEL_LIMIT])
    return text, known


def _list(body: Mapping[str, object], name: str, longest: int) -> tuple[str, ...]:
    field, value = CLASSIFY_FIELDS[name], body.get(name)
    if value is None:
        refuse(name, "field_missing")
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not field.low <= len(items) <= field.high:
        refuse(name, "field_list", low=field.low, high=field.high)
    for n, item in enumerate(items, 1):
        if len(text_of(f"{name}[{n}]", item)) > longest:
            refuse(f"{name}[{n}]", "field_length", limit=longest)
    return tuple(items)


def _written(context: Context, batch: Batch, status: int) -> Response:
    view = batch.view()
    body: dict[str, object] = {
        "id": batch.id,
        "state": view.state,
        "done": len(view.results),
        "total": batch.total,
        "estimate_s": None if view.estimate_s is None else round(view.estimate_s, 1),
        "poll_after_s": _poll_after_s(view),
        "model": view.results[0].model if view.results else None,
        "results": [_result(context, batch.labels, result) for result in view.results],
        "failure": view.error and problems.problem(view.error, context.language, context.request_id),
        "request_id": context.request_id,
    }
    if batch.notes:
        body["notes"] = list(batch.notes)
    return Response(status, jsontext.dumps(body | {"status": "ok"}))


def _result(context: Context, labels: tuple[str, ...], result: Classified) -> dict[str, object]:
    """One text; its labels are values and not names, because a name must be an identifier."""
    pairs = zip(labels, result.probabilities, strict=True)
    best = max(result.probabilities, default=0.0)
    return {
        "n": result.n,
        "outcome": result.outcome,
        "label": result.label,
        "probability": _rounded(result.none if result.outcome == "none" else best),
        "none": _rounded(result.none),
        "probabilities": [{"label": label, "probability": _rounded(value)} for label, value in pairs],
        "cut": result.cut,
        "failure": result.error and problems.problem(result.error, context.language, context.request_id),
    }


def _poll_after_s(view: BatchView) -> int | None:
    """Often enough to miss little of the end, seldom enough to cost nothing."""
    if view.ended:
        return None
    low, high = POLL_LIMITS_S
    return min(high, max(low, round((view.estimate_s or 0.0) / 3)))


def _rounded(value: float) -> float:
    return round(value, _DECIMALS)
