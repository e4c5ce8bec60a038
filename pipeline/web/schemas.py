"""The fields of a question: their types, limits and defaults, and how they are read.

``null`` means the default, because 1C writes ``Неопределено`` so. A field outside the contract is
ignored with a note in the reply (a form of an older or newer version must go on working); inside
``filter`` it is refused, because a condition that does nothing gives wrong answers.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, NoReturn, cast
from urllib.parse import parse_qsl

from pipeline.errors import InvalidRequestError, MalformedBodyError, QuestionTooLongError
from pipeline.jobs import Key
from pipeline.messages import Phrase
from pipeline.types import AskRequest, Filter, Language, Metadata
from pipeline.understand import QUESTION_LIMIT

__all__ = [
    "FIELDS",
    "FILTER_FIELDS",
    "KEY_LIMIT",
    "Field",
    "Format",
    "Parsed",
    "Style",
    "from_query",
    "no_field",
    "parse",
    "switch",
]

KEY_LIMIT = 200

Format = Literal["fragment", "text", "page"]
_FORMATS: dict[object, Format] = {True: "fragment", False: "text", "html": "page"}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the contract; ``low`` and ``high`` bound a number, or the length of a text."""

    kind: Literal["text", "boolean", "integer", "number", "format", "filter", "texts"]
    default: object
    about: str
    low: int = 0
    high: int = 0


FIELDS: dict[str, Field] = {
    "question": Field("text", None, "The question; flags at its end.", 1, QUESTION_LIMIT),
    "use_RAG": Field("boolean", False, "True: a written answer; false: the relevant sources only."),
    "format": Field("format", True, 'True: HTML fragment; false: plain text; "html": a whole page.'),
    "top_k": Field("integer", 3, "Sources to return.", 1, 20),
    "sources_limit": Field("integer", 3, "Sources given to the generator.", 1, 9),
    "cross_encoder": Field("boolean", False, "Rerank with the cross-encoder."),
    "scores": Field("boolean", False, "Show the score of every stage for every source."),
    "filter": Field("filter", None, "Conditions that documents must meet, checked before ranking."),
    "prompt": Field("text", None, "Generate with this prompt instead of the knowledge base."),
    "data": Field("texts", None, "Texts for the prompt."),
    "deadline_s": Field("number", 120, "The server answers within this many seconds.", 1, 600),
    "idempotency_key": Field("text", None, "A request repeated under it is answered once.", 0, KEY_LIMIT),
}
FILTER_FIELDS = ("source_type", "tags", "path_prefix", "metadata")


@dataclass(frozen=True, slots=True)
class Style:
    """How a reply is to be written; ``notes`` tell the caller what was ignored of its request."""

    format: Format
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A request as understood; ``key`` is the caller's name for it, if it gave one."""

    request: AskRequest
    format: Format
    notes: tuple[str, ...] = ()
    key: Key | None = None

    @property
    def style(self) -> Style:
        """How its reply is to be written."""
        return Style(self.format, self.notes)


def from_query(query: bytes) -> dict[str, object]:
    """Fields from an address: ``q`` is the question; numbers and booleans are read from their text.

    Raises:
        MalformedBodyError: Bytes that are not UTF-8.
    """
    try:
        pairs = parse_qsl(query.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError as error:
        raise MalformedBodyError(reason=Phrase("address_encoding")) from error
    found: dict[str, object] = {}
    for name, text in pairs:
        field = "question" if name == "q" else name
        found[field] = _typed(FIELDS[field].kind if field in FIELDS else "text", text)
    return found


def no_field(name: str, value: object) -> str:
    """A text parameter of an address that is no field of a question; absent is empty."""
    return _text(name, "" if value is None else value)


def switch(name: str, value: object) -> bool:
    """A parameter of an address that is on or off; absent or empty is off.

    Raises:
        InvalidRequestError: Another value.
    """
    known = {None: False, "": False, "0": False, "false": False, "1": True, "true": True}
    word = value.lower() if isinstance(value, str) else value
    return known[word] if word in known else _refuse(name, "field_boolean")


def _typed(kind: str, text: str) -> object:
    if kind in ("boolean", "format") and text.lower() in ("true", "false", "1", "0"):
        return text.lower() in ("true", "1")
    if kind in ("integer", "number") and re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", text):
        return float(text)
    return text.replace("\0", "")


def parse(
    body: Mapping[str, object], *, language: Language, client: str = "", request_id: str = "", key: str = ""
) -> Parsed:
    """Read the fields of a question.

    Args:
        body: A JSON object with clean texts (``bodies.parse_object``, ``from_query``).
        language: Language of notes and messages.
        client: Tells callers apart for a fair queue.
        request_id: Goes into the reply.
        key: The header ``Idempotency-Key``; the field of the same meaning must not differ from it.

    Raises:
        InvalidRequestError: A field has a wrong type or value; the error names it.
        QuestionTooLongError: The question is over ``QUESTION_LIMIT`` characters.
    """
    question = body.get("question")
    if question is None:
        _refuse("question", "field_missing")
    text = _text("question", question)
    if len(text) > QUESTION_LIMIT:
        raise QuestionTooLongError(length=len(text), limit=QUESTION_LIMIT)
    request = AskRequest(
        question=text,
        use_rag=_boolean(body, "use_RAG"),
        top_k=int(_number(body, "top_k")),
        sources_limit=int(_number(body, "sources_limit")),
        cross_encoder=_boolean(body, "cross_encoder"),
        scores=_boolean(body, "scores"),
        filter=_filter(body.get("filter")),
        # An empty field of a form means that nothing was filled in.
        prompt=_text("prompt", body.get("prompt") or "") or None,
        data=_texts("data", body.get("data")),
        deadline_s=_number(body, "deadline_s"),
        language=language,
        client=client,
        request_id=request_id,
    )
    unknown = [name for name in body if name not in FIELDS]
    notes = tuple(_note(name, language) for name in unknown[:10])
    return Parsed(request, _format(body), notes, _key(body, key, client))


def _key(body: Mapping[str, object], header: str, client: str) -> Key | None:
    field = _text("idempotency_key", body.get("idempotency_key") or "")
    if header and field and header != field:
        _refuse("idempotency_key", "field_two_keys")
    name = field or header
    if len(name) > KEY_LIMIT:
        _refuse("idempotency_key", "field_length", limit=KEY_LIMIT)
    if not name:
        return None
    # What decides the reply, in whatever order and spacing it was written.
    asked = {name: body[name] for name in FIELDS if name != "idempotency_key" and body.get(name) is not None}
    return Key(client, name, hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest())


def _note(name: str, language: Language) -> str:
    shown = name[:40]
    meant = get_close_matches(shown.replace("-", "_").lower(), [field.lower() for field in FIELDS], 1)
    if not meant:
        return Phrase("ignored_field", {"field": shown}).text(language)
    nearest = next(field for field in FIELDS if field.lower() == meant[0])
    return Phrase("ignored_field_meant", {"field": shown, "meant": nearest}).text(language)


def _refuse(field: str, reason: str, **values: object) -> NoReturn:
    raise InvalidRequestError(field=field, reason=Phrase(reason, values))


def _given(body: Mapping[str, object], name: str) -> object:
    value = body.get(name)
    return FIELDS[name].default if value is None else value


def _text(name: str, value: object) -> str:
    return value if isinstance(value, str) else _refuse(name, "field_text")


def _boolean(body: Mapping[str, object], name: str) -> bool:
    value = _given(body, name)
    return value if isinstance(value, bool) else _refuse(name, "field_boolean")


def _number(body: Mapping[str, object], name: str) -> float:
    field, value = FIELDS[name], _given(body, name)
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    # 3.0 is a whole number too: that is how some programs write every number.
    if fits and field.kind == "integer":
        fits = value == int(cast(float, value))
    if not fits or not field.low <= cast(float, value) <= field.high:
        _refuse(name, f"field_{field.kind}", low=field.low, high=field.high)
    return float(cast(float, value))


def _format(body: Mapping[str, object]) -> Format:
    value = _given(body, "format")
    # 1 == True in Python, but not in JSON.
    if isinstance(value, bool | str) and value in _FORMATS:
        return _FORMATS[value]
    _refuse("format", "field_format")


def _texts(name: str, value: object) -> tuple[str, ...]:
    if value is None or isinstance(value, str):
        return (value,) if value else ()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    _refuse(name, "field_texts")


def _filter(value: object) -> Filter | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        _refuse("filter", "field_object")
    for name in value:
        if name not in FILTER_FIELDS:
            _refuse(f"filter.{name[:40]}", "field_unknown", known=", ".join(FILTER_FIELDS))
    prefix = value.get("path_prefix")
    return Filter(
        source_types=_texts("filter.source_type", value.get("source_type")),
        tags=_texts("filter.tags", value.get("tags")),
        path_prefix="" if prefix is None else _text("filter.path_prefix", prefix),
        metadata=_metadata(value.get("metadata")),
    )


def _metadata(value: object) -> Metadata:
    if value is None:
        return {}
    if not isinstance(value, dict):
        _refuse("filter.metadata", "field_object")
    for name, item in value.items():
        if not isinstance(item, str | int | float):
            _refuse(f"filter.metadata.{name[:40]}", "field_scalar")
    return value
