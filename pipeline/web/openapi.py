"""The contract in the form of OpenAPI, made from the tables that the servers work with."""

from __future__ import annotations

import re

from pipeline import __version__
from pipeline.web.classification import CLASSIFY_FIELDS, WAIT_LIMIT_S
from pipeline.web.comparing import COMPARE_FIELDS
from pipeline.web.filters import FILTER_FIELDS
from pipeline.web.routes import ROUTES, Route
from pipeline.web.schemas import FIELDS, Field

__all__ = ["document"]

_TEXT: dict[str, object] = {"type": "string"}
_NUMBER: dict[str, object] = {"type": "number"}
_WHOLE: dict[str, object] = {"type": "integer"}
_TRUTH: dict[str, object] = {"type": "boolean"}
_TEXTS: dict[str, object] = {"oneOf": [_TEXT, {"type": "array", "items": _TEXT}]}
_OUTCOMES = ["answered", "sources", "not_found", "generated", "partial"]
_STAGE = {"name": _TEXT, "score": _NUMBER, "rank": _WHOLE}
_SOURCE = {
    "n": _WHOLE,
    "title": _TEXT,
    "link": _TEXT,
    "file": _TEXT,
    "quote": _TEXT,
    "start": _WHOLE,
    "end": _WHOLE,
    "score": _NUMBER,
    "page": {"type": ["integer", "null"]},
    "chunk_id": _TEXT,
    "headings": {"type": "array", "items": _TEXT},
    "stages": {"type": "array", "items": {"type": "object", "properties": _STAGE}},
}
_COSTS = {"calls": _WHOLE, "tokens_in": _WHOLE, "tokens_out": _WHOLE, "seconds": _NUMBER}
_STEP = {
    "name": _TEXT,
    "seconds": _NUMBER,
    "tokens_in": _WHOLE,
    "tokens_out": _WHOLE,
    "detail": _TEXT,
}
_TABLE = {
    "columns": {"type": "array", "items": _TEXT},
    "labels": {"type": "array", "items": _TEXT},
    "kinds": {"type": "array", "items": _TEXT},
    "rows": {"type": "array", "items": {"type": "array"}},
    "truncated": {"type": "boolean"},
    "csv": {"type": ["string", "null"]},
}
_CHART = {"kind": {"type": "string", "enum": ["bar", "line"]}, "x": _TEXT, "y": _TEXT}
_CONFIRM = {"id": _TEXT, "explanation": _TEXT, "expires_s": _WHOLE}
_OPTION = {"label": _TEXT, "question": _TEXT, "route": {"type": ["string", "null"]}}
_CLARIFY = {
    "question": _TEXT,
    "options": {"type": "array", "items": {"type": "object", "properties": _OPTION}},
}
_SCALAR = {"type": ["string", "number", "boolean"]}
_CONDITIONS: dict[str, object] = {
    "type": "object",
    "additionalProperties": {"oneOf": [_SCALAR, {"type": "array", "items": _SCALAR}]},
}
_SPAN: dict[str, object] = {
    "type": "object",
    "properties": {"from": _TEXT, "to": _TEXT},
    "additionalProperties": False,
}
_REPLY = {
    "question": _TEXT,
    "flags": {"type": "array", "items": _TEXT},
    "answer": _TEXT,
    "outcome": {"type": "string", "enum": _OUTCOMES},
    "sources": {"type": "array", "items": {"type": "object", "properties": _SOURCE}},
    "timings_ms": {"type": "object", "additionalProperties": _NUMBER},
    "model": _TEXT,
    "kb_version": _TEXT,
    "request_id": _TEXT,
    "notes": {"type": "array", "items": _TEXT},
    "marks": {"type": "array", "items": {"type": "object"}},
    "route": {"type": "string", "enum": ["sql", "search", "hybrid", "clarify"]},
    "steps": {"type": "array", "items": {"type": "object", "properties": _STEP}},
    "database": _TEXT,
    "sql": _TEXT,
    "table": {"oneOf": [{"type": "object", "properties": _TABLE}, {"type": "null"}]},
    "chart": {"oneOf": [{"type": "object", "properties": _CHART}, {"type": "null"}]},
    "confirm": {"oneOf": [{"type": "object", "properties": _CONFIRM}, {"type": "null"}]},
    "clarify": {"oneOf": [{"type": "object", "properties": _CLARIFY}, {"type": "null"}]},
    "costs": {"type": "object", "properties": _COSTS},
    "status": {"type": "string", "const": "ok"},
}
_PROBLEM = {
    "error": _TEXT,
    "message": _TEXT,
    "hint": _TEXT,
    "request_id": _TEXT,
    "status": {"type": "string", "const": "error"},
}
_JOB = {
    "id": _TEXT,
    "state": {"type": "string", "enum": ["queued", "running", "done", "failed", "cancelled"]},
    "place": {"type": ["integer", "null"]},
    "estimate_s": {"type": ["number", "null"]},
    "poll_after_s": {"type": ["integer", "null"]},
    "text": _TEXT,
    "sources": {"type": "array", "items": {"type": "object", "properties": _SOURCE}},
    "reply": {"oneOf": [{"$ref": "#/components/schemas/Reply"}, {"type": "null"}]},
    "failure": {"oneOf": [{"$ref": "#/components/schemas/Problem"}, {"type": "null"}]},
    "request_id": _TEXT,
    "status": {"type": "string", "const": "ok"},
}
_LABELLED = {
    "n": _WHOLE,
    "outcome": {"type": "string", "enum": ["label", "none", "failed"]},
    "label": {"type": ["string", "null"]},
    "probability": _NUMBER,
    "none": _NUMBER,
    "probabilities": {
        "type": "array",
        "items": {"type": "object", "properties": {"label": _TEXT, "probability": _NUMBER}},
    },
    "cut": {"type": "boolean"},
    "failure": {"oneOf": [{"$ref": "#/components/schemas/Problem"}, {"type": "null"}]},
}
_BATCH = {
    "id": _TEXT,
    "state": _JOB["state"],
    "done": _WHOLE,
    "total": _WHOLE,
    "estimate_s": {"type": ["number", "null"]},
    "poll_after_s": {"type": ["integer", "null"]},
    "model": {"type": ["string", "null"]},
    "results": {"type": "array", "items": {"type": "object", "properties": _LABELLED}},
    "failure": _JOB["failure"],
    "request_id": _TEXT,
    "notes": {"type": "array", "items": _TEXT},
    "status": {"type": "string", "const": "ok"},
}
_HEADERS = ("Idempotency-Key", "X-Client")
_PLACES: dict[str, object] = {"type": "array", "items": _NUMBER}
_POINT = {
    "id": _TEXT,
    "topic": _TEXT,
    "file": _TEXT,
    "text": _TEXT,
    "group": {"type": ["string", "null"]},
    "flat": _PLACES,
    "deep": _PLACES,
    "cluster": {"type": ["integer", "null"]},
    "duplicates": {"type": ["integer", "null"]},
    "alone": {"type": "boolean"},
}
_CLUSTER = {
    "number": _WHOLE,
    "terms": {"type": "array", "items": _TEXT},
    "size": _WHOLE,
    "flat": _PLACES,
    "deep": _PLACES,
}
_MAP = {
    "format": _WHOLE,
    "build_id": _TEXT,
    "method": {"type": "string", "enum": ["umap", "pca"]},
    "clusters": {"type": "array", "items": {"type": "object", "properties": _CLUSTER}},
    "points": {"type": "array", "items": {"type": "object", "properties": _POINT}},
    "current": {"type": "boolean"},
    "status": {"type": "string", "const": "ok"},
}
_PLACE = {
    "question": _TEXT,
    "flat": {"oneOf": [_PLACES, {"type": "null"}]},
    "deep": {"oneOf": [_PLACES, {"type": "null"}]},
    "nearest": {"type": "array", "items": {"type": "object"}},
    "status": {"type": "string", "const": "ok"},
}
_DESCRIBED = dict.fromkeys(("name", "flag", "title", "what", "pros", "cons", "best_for"), _TEXT)
_WAY = {
    **dict.fromkeys(("strategy", "reranker", "title", "reranker_title"), _TEXT),
    **dict.fromkeys(("default", "calibrated", "refused"), _TRUTH),
    **dict.fromkeys(("relevance", "overlap", "total_ms", "tokens", "saving"), _NUMBER),
    "sources": {"type": "array", "items": {"type": "object"}},
    "timings_ms": {"type": "object", "additionalProperties": _NUMBER},
    "notes": {"type": "array", "items": _TEXT},
}
_COMPARED = {
    "question": _TEXT,
    "flags": {"type": "array", "items": _TEXT},
    "default": {"type": "object", "properties": {"strategy": _TEXT, "reranker": _TEXT}},
    "ways": {"type": "array", "items": {"type": "object", "properties": _WAY}},
    "overlaps": {"type": "array", "items": _PLACES},
    "whole_tokens": _WHOLE,
    **dict.fromkeys(("counted_by", "kb_version", "request_id"), _TEXT),
    "status": {"type": "string", "const": "ok"},
}
_LISTED: dict[str, object] = {"type": "array", "items": {"type": "object", "properties": _DESCRIBED}}
_STRATEGIES = {
    **dict.fromkeys(("strategies", "rerankers"), _LISTED),
    "default": _COMPARED["default"],
    "status": {"type": "string", "const": "ok"},
}
_OPINION = {
    "question": _TEXT,
    "verdict": {"type": "string", "enum": ["good", "bad"]},
    **dict.fromkeys(("comment", "answer", "outcome", "right_file", "kb_version", "model"), _TEXT),
    "files": {"type": "array", "items": _TEXT},
}
_BODIES = {
    "/ask": "Question",
    "/ask/stream": "Question",
    "/ask/{id}/confirm": "Statement",
    "/classify": "Texts",
    "/compare": "Comparison",
    "/feedback": "Opinion",
    "/v1/chat/completions": "Chat",
    "/kb/restore": "Kept",
    "/eval/make": "Wanted",
    "/eval/accept": "Accepted",
    "/eval/drop": "Kept",
    "/eval/restore": "Kept",
    "/kb/index": "Nothing",
}
_REPLIES = {
    "/ask": "Reply",
    "/search": "Reply",
    "/strategies": "Strategies",
    "/ask/{id}": "Job",
    "/ask/{id}/confirm": "Reply",
    "/costs": "Costs",
    "/classify/{id}": "Batch",
    "/map.json": "Map",
    "/map/question": "Place",
}


def document() -> dict[str, object]:
    """The OpenAPI 3.1 document."""
    schemas = {
        "Question": {
            "type": "object",
            "required": ["question"],
            "properties": {name: _schema(field) for name, field in FIELDS.items()},
        },
        "Reply": {"type": "object", "properties": _REPLY},
        "Job": {"type": "object", "properties": _JOB},
        "Statement": {
            "type": "object",
            "properties": {
                "sql": _TEXT,
                **{name: _schema(FIELDS[name]) for name in ("format", "deadline_s")},
            },
        },
        "Costs": {"type": "object", "properties": {"days": {"type": "array", "items": {"type": "object"}}}},
        "Texts": {
            "type": "object",
            "required": ["labels", "texts"],
            "properties": {name: _schema(field) for name, field in CLASSIFY_FIELDS.items()},
        },
        "Batch": {"type": "object", "properties": _BATCH},
        "Comparison": {
            "type": "object",
            "required": ["question"],
            "properties": {name: _schema(field) for name, field in COMPARE_FIELDS.items()},
        },
        "Compared": {"type": "object", "properties": _COMPARED},
        "Strategies": {"type": "object", "properties": _STRATEGIES},
        "Opinion": {"type": "object", "required": ["question", "verdict"], "properties": _OPINION},
        "Kept": {"type": "object", "required": ["id"], "properties": {"id": _TEXT}},
        "Chat": {
            "type": "object",
            "required": ["messages"],
            "properties": {
                "model": {"type": "string", "enum": ["otvet", "otvet-sources"], "default": "otvet"},
                "messages": {"type": "array", "items": {"type": "object"}},
                "stream": _TRUTH,
            },
        },
        "Wanted": {
            "type": "object",
            "properties": {**dict.fromkeys(("count", "foreign"), _WHOLE), "model": _TRUTH},
        },
        "Accepted": {
            "type": "object",
            "required": ["id"],
            "properties": {"id": _TEXT, "question": _TEXT, "answer_any": {"type": "array", "items": _TEXT}},
        },
        "Nothing": {"type": "object"},
        "Map": {"type": "object", "properties": _MAP},
        "Place": {"type": "object", "properties": _PLACE},
        "Problem": {"type": "object", "properties": _PROBLEM},
    }
    paths: dict[str, dict[str, object]] = {}
    for route in ROUTES:
        paths.setdefault(_path(route), {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Otvet", "version": __version__},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _path(route: Route) -> str:
    return route.template.replace(":path", "")


def _schema(field: Field) -> dict[str, object]:
    about: dict[str, object] = {"description": field.about}
    if field.default is not None:
        about["default"] = field.default
    match field.kind:
        case "text":
            limits = {"minLength": field.low, "maxLength": field.high} if field.high else {}
            return _TEXT | limits | about
        case "boolean":
            return {"type": "boolean"} | about
        case "integer" | "number":
            return {"type": field.kind, "minimum": field.low, "maximum": field.high} | about
        case "format" | "choice":
            choices: list[object] = [*field.choices()]
            return {"enum": choices or [True, False, "html"]} | about
        case "texts" | "examples":
            return _list(field) | about
        case "filter":
            kinds: tuple[dict[str, object], ...] = (_TEXTS, _TEXTS, _TEXT, _CONDITIONS, _SPAN)
            properties = dict(zip(FILTER_FIELDS, kinds, strict=True))
            return {"type": "object", "properties": properties, "additionalProperties": False} | about


def _list(field: Field) -> dict[str, object]:
    if field.kind == "examples":
        pair = {"text": _TEXT, "label": {"type": ["string", "null"]}}
        item = {"type": "object", "required": ["text", "label"], "properties": pair}
        return {"type": "array", "items": item, "maxItems": field.high}
    if not field.high:
        return _TEXTS
    items = {"type": "array", "items": _TEXT, "minItems": field.low, "maxItems": field.high}
    return {"oneOf": [_TEXT, items]}


def _operation(route: Route) -> dict[str, object]:
    responses = {"200": _success(route), "default": _content("Problem", "An error")}
    names = re.findall(r"\{(\w+)", route.template)
    parameters = [{"name": name, "in": "path", "required": True, "schema": _TEXT} for name in names]
    if route.template == "/search":
        parameters += _search_parameters()
    if route.template == "/map/question":
        parameters += [parameter for parameter in _search_parameters() if parameter["name"] == "q"]
    if route.template in ("/ask", "/ask/{id}/confirm"):
        parameters.append({"name": "async", "in": "query", "schema": {"type": "boolean"}})
        responses["202"] = _content("Job", "With async=1: the question is in the line")
    if route.template == "/classify/{id}" and route.method == "GET":
        seconds = {"type": "number", "minimum": 0, "maximum": WAIT_LIMIT_S, "default": 0}
        parameters.append({"name": "wait", "in": "query", "schema": seconds})
    if route.template == "/classify":
        responses = {"202": _content("Batch", "The texts are in the line")} | responses
        del responses["200"]
    if _BODIES.get(route.template) in ("Question", "Texts") and route.method == "POST":
        parameters += [{"name": name, "in": "header", "schema": _TEXT} for name in _HEADERS]
    found: dict[str, object] = {
        "summary": route.about,
        "operationId": route.operation.__name__,
        "responses": responses,
    }
    if parameters:
        found["parameters"] = parameters
    if route.method in ("POST", "PUT"):
        found["requestBody"] = {"required": True} | _body(route)
    return found


def _body(route: Route) -> dict[str, object]:
    if route.template in _BODIES:
        return _content(_BODIES[route.template])
    if route.method == "PUT":
        return {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
    form = {"type": "object", "required": ["token"], "properties": {"token": _TEXT, "next": _TEXT}}
    return {"content": {"application/x-www-form-urlencoded": {"schema": form}}}


def _search_parameters() -> list[dict[str, object]]:
    same = ("top_k", "scores", "strategy", "reranker", "cross_encoder", "format")
    names = {"q": "question"} | {name: name for name in same}
    return [
        {"name": name, "in": "query", "required": name == "q", "schema": _schema(FIELDS[field])}
        for name, field in names.items()
    ]


def _success(route: Route) -> dict[str, object]:
    if (route.template, route.method) == ("/compare", "POST"):
        return _content("Compared", "The comparison")
    if route.template in _REPLIES:
        return _content(_REPLIES[route.template], "The reply")
    if route.template == "/ask/stream":
        events = "Events sources, waiting, token, done (a Reply), error (a Problem)"
        return {"description": events, "content": {"text/event-stream": {"schema": _TEXT}}}
    return {"description": route.about}


def _content(name: str, about: str = "") -> dict[str, object]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
    return {"content": content} | ({"description": about} if about else {})
