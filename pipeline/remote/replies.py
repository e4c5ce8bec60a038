"""What a server's reply says, read as text that nobody vouches for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

__all__ = ["NotJsonError", "parsed", "told"]

_SHOWN = 300
_UNSHOWABLE = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029\ufffd]+")


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
    return _UNSHOWABLE.sub(" ", text).strip()[:_SHOWN]


def _message(value: object) -> str:
    for name in ("error", "message", "detail"):
        inner = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(inner, str):
            return inner
        if isinstance(inner, Mapping):
            return _message(inner)
    return orjson.dumps(value, default=str).decode()
