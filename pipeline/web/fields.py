"""One field of a request body and how its value is read; ``null`` is the default, as 1C writes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, NoReturn, cast

from pipeline.errors import InvalidRequestError
from pipeline.jobs import Key
from pipeline.messages import Phrase
from pipeline.types import Language

__all__ = [
    "KEY_LIMIT",
    "Field",
    "boolean_of",
    "choice_of",
    "given",
    "key_of",
    "notes_of",
    "number_of",
    "refuse",
    "text_of",
    "texts_of",
]

KEY_LIMIT = 200
_NOTED = 10


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the contract; ``low`` and ``high`` bound a number, or the length of a text or a list.

    ``choices`` are the values of a ``choice`` at the moment; an empty text is none of them and the default.
    """

    kind: Literal["text", "boolean", "integer", "number", "format", "filter", "texts", "examples", "choice"]
    default: object
    about: str
    low: int = 0
    high: int = 0
    choices: Callable[[], tuple[str, ...]] = tuple


Fields = Mapping[str, Field]
Body = Mapping[str, object]


def refuse(field: str, reason: str, **values: object) -> NoReturn:
    """Say which field cannot be used and why; ``reason`` is a key of ``messages/answers.toml``.

    Raises:
        InvalidRequestError: Always.
    """
    raise InvalidRequestError(field=field, reason=Phrase(reason, values))


def given(body: Body, fields: Fields, name: str) -> object:
    """The value of a field, or its default."""
    value = body.get(name)
    return fields[name].default if value is None else value


def text_of(name: str, value: object) -> str:
    """A text."""
    return value if isinstance(value, str) else refuse(name, "field_text")


def boolean_of(body: Body, fields: Fields, name: str) -> bool:
    """True or false."""
    value = given(body, fields, name)
    return value if isinstance(value, bool) else refuse(name, "field_boolean")


def choice_of(body: Body, fields: Fields, name: str) -> str:
    """One of the field's choices; empty where nothing was chosen."""
    value, known = text_of(name, given(body, fields, name) or ""), fields[name].choices()
    return value if not value or value in known else refuse(name, "field_choice", known=", ".join(known))


def number_of(body: Body, fields: Fields, name: str) -> float:
    """A number within the field's bounds."""
    field, value = fields[name], given(body, fields, name)
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    # 3.0 is a whole number too: that is how some programs write every number.
    if fits and field.kind == "integer":
        fits = value == int(cast(float, value))
    if not fits or not field.low <= cast(float, value) <= field.high:
        refuse(name, f"field_{field.kind}", low=field.low, high=field.high)
    return float(cast(float, value))


def texts_of(name: str, value: object) -> tuple[str, ...]:
    """A text or a list of texts; nothing and an empty text are no texts."""
    if value is None or isinstance(value, str):
        return (value,) if value else ()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    refuse(name, "field_texts")


def key_of(body: Body, fields: Fields, header: str, client: str) -> Key | None:
    """The caller's own name for the request, from the header or the field of the same meaning."""
    field = text_of("idempotency_key", body.get("idempotency_key") or "")
    if header and field and header != field:
        refuse("idempotency_key", "field_two_keys")
    name = field or header
    if len(name) > KEY_LIMIT:
        refuse("idempotency_key", "field_length", limit=KEY_LIMIT)
    if not name:
        return None
    # What decides the reply, in whatever order and spacing it was written.
    asked = {name: body[name] for name in fields if name != "idempotency_key" and body.get(name) is not None}
    return Key(client, name, hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest())


def notes_of(body: Body, fields: Fields, language: Language) -> tuple[str, ...]:
    """A sentence for each of the first fields that are not of the contract."""
    unknown = [name for name in body if name not in fields]
    return tuple(_note(name, fields, language) for name in unknown[:_NOTED])


def _note(name: str, fields: Fields, language: Language) -> str:
    shown = name[:40]
    meant = get_close_matches(shown.replace("-", "_").lower(), [field.lower() for field in fields], 1)
    if not meant:
        return Phrase("ignored_field", {"field": shown}).text(language)
    nearest = next(field for field in fields if field.lower() == meant[0])
    return Phrase("ignored_field_meant", {"field": shown, "meant": nearest}).text(language)
