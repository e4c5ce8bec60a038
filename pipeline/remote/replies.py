"""What a server's reply says, read as text that nobody vouches for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

__all__ = ["NotJsonError", "parsed", "told"]

_SHOWN = 300


class NotJsonError(ValueError):
    """A body that should be a JSON object is none."""


def parsed(body: bytes | str) -> dict[str, Any]:
    """The object of a body.

    Raises:
        NotJsonError: It is none.
    """
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise NotJsonError from error
    if not isinstance(value, dict):
        raise NotJsonError
    return value


def told(body: bytes | Mapping[str, Any], secret: str = "") -> str:
    """The message of an error reply on one short line; without the key, should a server repeat it.

    OpenAI, vLLM and llama.cpp have ``error.message``, Ollama ``error``, FastAPI ``detail``.
    """
    text = ""
    try:
        value: object = body if isinstance(body, Mapping) else parsed(body)
    except NotJsonError:
        text = bytes(body).decode("utf-8", "replace") if isinstance(body, bytes) else ""
    else:
        text = _message(value)
    if secret:
        text = text.replace(secret, "***")
    shown = "".join(letter if letter.isprintable() and letter != "\ufffd" else " " for letter in text)
    return " ".join(shown.split())[:_SHOWN]


def _message(value: object) -> str:
    for name in ("error", "message", "detail"):
        inner = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(inner, str):
            return inner
        if isinstance(inner, Mapping):
            return _message(inner)
    return orjson.dumps(value, default=str).decode()
