"""The fields of a question: their types, limits and defaults, and how they are read.

``null`` means the default, because 1C writes ``Неопределено`` so. A field outside the contract is
ignored with a note in the reply (a form of an older or newer version must go on working); inside
``filter`` it is refused, because a condition that does nothing gives wrong answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast
from urllib.parse import parse_qsl

from pipeline.errors import MalformedBodyError, QuestionTooLongError
from pipeline.jobs import Key
from pipeline.messages import Phrase
from pipeline.strategies import RERANKERS, STRATEGIES
from pipeline.types import AskRequest, Language, Route
from pipeline.understand import QUESTION_LIMIT
from pipeline.web.fields import (
    KEY_LIMIT,
    Field,
    boolean_of,
    choice_of,
    given,
    key_of,
    notes_of,
    number_of,
    refuse,
    text_of,
    texts_of,
)
from pipeline.web.filters import filter_of

__all__ = [
    "FIELDS",
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

Format = Literal["fragment", "text", "page"]
# Besides JSON's own values their spellings: XMLСтрока(Истина) of 1C is "true", Строка(Истина) is "Да".
_FORMATS: dict[str, Format] = {
    **dict.fromkeys(("true", "1", "да", "истина", "yes"), "fragment"),
    **dict.fromkeys(("false", "0", "нет", "ложь", "no"), "text"),
    "html": "page",
}

ROUTES = ("sql", "search", "hybrid")
"""Ways to answer over declared databases that a request may ask for."""
NAME_LIMIT = 60


FIELDS: dict[str, Field] = {
    "question": Field("text", None, "The question; flags at its end.", 1, QUESTION_LIMIT),
    "use_RAG": Field("boolean", False, "True: a written answer; false: the relevant sources only."),
    "format": Field("format", True, 'True: HTML fragment; false: plain text; "html": a whole page.'),
    "top_k": Field("integer", 3, "Sources to return.", 1, 20),
    "sources_limit": Field("integer", 3, "Sources given to the generator.", 1, 9),
    "strategy": Field("choice", None, "How passages are found.", choices=STRATEGIES.names),
    "reranker": Field("choice", None, "What puts them in order.", choices=RERANKERS.names),
    "cross_encoder": Field("boolean", False, "The same as the reranker cross-encoder."),
    "scores": Field("boolean", False, "Show the score of every stage for every source."),
    "filter": Field("filter", None, "Conditions that documents must meet, checked before ranking."),
    "prompt": Field("text", None, "Generate with this prompt instead of the knowledge base."),
    "data": Field("texts", None, "Texts for the prompt."),
    "deadline_s": Field("number", 120, "The server answers within this many seconds.", 1, 600),
    "route": Field("choice", None, "How to answer over databases; empty: as suits.", choices=lambda: ROUTES),
    "database": Field("text", None, "Which declared database is asked.", 0, NAME_LIMIT),
    "confirm_sql": Field("boolean", None, "Show the statement first; it runs once it is confirmed."),
    "idempotency_key": Field("text", None, "A request repeated under it is answered once.", 0, KEY_LIMIT),
}


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
    return text_of(name, "" if value is None else value)


def switch(name: str, value: object) -> bool:
    """A parameter of an address that is on or off; absent or empty is off.

    Raises:
        InvalidRequestError: Another value.
    """
    known = {None: False, "": False, "0": False, "false": False, "1": True, "true": True}
    word = value.lower() if isinstance(value, str) else value
    return known[word] if word in known else refuse(name, "field_boolean")


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
        refuse("question", "field_missing")
    text = text_of("question", question)
    if len(text) > QUESTION_LIMIT:
        raise QuestionTooLongError(length=len(text), limit=QUESTION_LIMIT)
    request = AskRequest(
        question=text,
        use_rag=boolean_of(body, FIELDS, "use_RAG"),
        top_k=int(number_of(body, FIELDS, "top_k")),
        sources_limit=int(number_of(body, FIELDS, "sources_limit")),
        cross_encoder=boolean_of(body, FIELDS, "cross_encoder"),
        strategy=choice_of(body, FIELDS, "strategy"),
        reranker=choice_of(body, FIELDS, "reranker"),
        scores=boolean_of(body, FIELDS, "scores"),
        filter=filter_of(body.get("filter")),
        # An empty field of a form means that nothing was filled in.
        prompt=text_of("prompt", body.get("prompt") or "") or None,
        data=texts_of("data", body.get("data")),
        deadline_s=number_of(body, FIELDS, "deadline_s"),
        language=language,
        client=client,
        request_id=request_id,
        route=_route(body),
        database=text_of("database", body.get("database") or "")[:NAME_LIMIT],
        confirm_sql=None if body.get("confirm_sql") is None else boolean_of(body, FIELDS, "confirm_sql"),
    )
    notes = notes_of(body, FIELDS, language)
    return Parsed(request, _format(body), notes, key_of(body, FIELDS, key, client))


def _route(body: Mapping[str, object]) -> Route | None:
    name = choice_of(body, FIELDS, "route")
    return cast(Route, name) if name else None


def _format(body: Mapping[str, object]) -> Format:
    value = given(body, FIELDS, "format")
    word = str(value).strip().lower()
    # A number is refused, though 1 == True in Python.
    if isinstance(value, bool | str) and word in _FORMATS:
        return _FORMATS[word]
    return refuse("format", "field_format")
