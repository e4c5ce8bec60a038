"""Errors as HTTP: status by class, one JSON object for all of them, nothing secret in it."""

from __future__ import annotations

import logging
import re

from pipeline.errors import (
    BodyTooLargeError,
    BusyError,
    CancelledError,
    DatabaseUnusableError,
    FileTakenError,
    ForbiddenHostError,
    ForbiddenOriginError,
    GeneratorMissingError,
    IndexLockedError,
    IndexUnusableError,
    KeyConflictError,
    MethodNotAllowedError,
    ModelError,
    NotFoundError,
    NotReadyError,
    NotWrittenError,
    OtvetError,
    PromptTooLongError,
    RemoteError,
    RequestError,
    TextTooLongError,
    TokenRequiredError,
    UnsupportedMediaTypeError,
)
from pipeline.types import Language
from pipeline.web import jsontext
from pipeline.web.exchange import Response

__all__ = ["choose_language", "problem", "respond", "retry_after", "status_of"]

_LOG = logging.getLogger(__name__)
# What a caller sent is quoted in some messages; a megabyte of it would be no message any more.
_MESSAGE_LIMIT = 600

_STATUSES: dict[type[OtvetError], int] = {
    UnsupportedMediaTypeError: 415,
    BodyTooLargeError: 413,
    ForbiddenHostError: 403,
    ForbiddenOriginError: 403,
    NotFoundError: 404,
    MethodNotAllowedError: 405,
    KeyConflictError: 409,
    FileTakenError: 409,
    TokenRequiredError: 401,
    NotWrittenError: 507,
    RequestError: 400,
    TextTooLongError: 400,
    PromptTooLongError: 413,
    BusyError: 503,
    NotReadyError: 503,
    IndexUnusableError: 503,
    DatabaseUnusableError: 503,
    ModelError: 503,
    RemoteError: 503,
    # No try will ever help: nobody is told to come back later.
    GeneratorMissingError: 501,
    # Nobody is left to read it; the number is nginx's, and what logs are searched for.
    CancelledError: 499,
    OtvetError: 500,
}
_RETRY_SECONDS: dict[type[OtvetError], int] = {NotReadyError: 2, IndexLockedError: 10}
_RETRY_DEFAULT = 30
_LANGUAGE = re.compile(r"\s*(ru|en)\b[^;]*(?:;\s*q=([01](?:\.[0-9]{0,3})?))?\s*", re.IGNORECASE)


def choose_language(accept: str, default: Language) -> Language:
    """Russian or English by ``Accept-Language``: the higher weight, the earlier of equal ones."""
    best: tuple[float, Language] = (0.0, default)
    for item in accept[:500].split(","):
        if match := _LANGUAGE.fullmatch(item):
            weight = float(match[2] or 1)
            if weight > best[0]:
                best = (weight, "ru" if match[1].lower() == "ru" else "en")
    return best[1]


def status_of(error: Exception) -> int:
    """HTTP status of an error; 500 of one that is no ``OtvetError``."""
    return next((_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES), 500)


def retry_after(error: Exception) -> int | None:
    """Seconds after which another try makes sense, for statuses 503 and 429."""
    if status_of(error) not in (429, 503):
        return None
    if isinstance(error, BusyError):
        return max(1, round(float(str(error.values.get("retry_after_s", 1)))))
    known = (_RETRY_SECONDS[kind] for kind in type(error).__mro__ if kind in _RETRY_SECONDS)
    return next(known, _RETRY_DEFAULT)


def problem(error: Exception, language: Language, request_id: str) -> dict[str, object]:
    """The error object of the contract.

    An error that is no ``OtvetError`` is a bug: it is logged with its stack and shown as ``internal``.
    """
    if isinstance(error, OtvetError):
        shown = error
        if status_of(error) >= 500 and not isinstance(error, BusyError | NotReadyError):
            _LOG.warning("request %s: %s", request_id, error)
    else:
        _LOG.error("request %s failed", request_id, exc_info=error)
        shown = OtvetError()
    return {
        "error": shown.code,
        "message": shown.message(language)[:_MESSAGE_LIMIT],
        "hint": shown.hint(language)[:_MESSAGE_LIMIT],
        "request_id": request_id,
        "status": "error",
    }


def respond(error: Exception, language: Language, request_id: str) -> Response:
    """The error as a response, with ``Retry-After`` and ``Allow`` where they belong."""
    headers: dict[str, str] = {}
    seconds = retry_after(error)
    if seconds is not None:
        headers["Retry-After"] = str(seconds)
    if isinstance(error, TokenRequiredError):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, MethodNotAllowedError):
        headers["Allow"] = str(error.values["allowed"])
    body = jsontext.dumps(problem(error, language, request_id))
    return Response(status_of(error), body, headers=headers)
