"""Request bodies: from bytes as programs really send them to one clean JSON object.

1C:Enterprise sends UTF-8 with or without a byte order mark, in any encoding its code names, and
often without a content type; a browser page of another site can send ``text/plain`` but not JSON.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Callable, Mapping
from email.message import Message
from typing import NoReturn

from pipeline.errors import BodyTooLargeError, MalformedBodyError, UnsupportedMediaTypeError
from pipeline.messages import Phrase
from pipeline.web.jsontext import without_surrogates

__all__ = [
    "BODY_LIMIT",
    "UPLOAD_LIMIT",
    "check_media_type",
    "check_not_packed",
    "decode",
    "parse_object",
    "read_body",
    "read_object",
]

BODY_LIMIT = 1 << 20
UPLOAD_LIMIT = 25 << 20
"""Bytes of a body, and of a file put in over HTTP; a larger one is copied into the folder."""

# UTF-32 first: its little-endian mark begins with the one of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Python also knows codecs that are no character sets (zlib, rot13, idna); a header may not choose those.
_CHARSET = re.compile(r"ascii|utf-(8|16|32)(-[bl]e)?|cp\d+|koi8-[rut]|iso8859-\d+|mac-cyrillic")
_JSON_TYPE = re.compile(r"(application|text)/(json|[\w.+-]+\+json)")


def read_body(read: Callable[[int], bytes], limit: int = BODY_LIMIT) -> bytes:
    """Read a body to its end, or to one byte over the limit, however much was announced."""
    parts: list[bytes] = []
    room = limit + 1
    while room > 0 and (part := read(min(room, 1 << 16))):
        parts.append(part)
        room -= len(part)
    return b"".join(parts)


def read_object(body: bytes, headers: Mapping[str, str]) -> dict[str, object]:
    """The JSON object of a request.

    Raises:
        BodyTooLargeError: Over ``BODY_LIMIT`` bytes.
        UnsupportedMediaTypeError: Neither JSON nor text, or not JSON from a browser page.
        MalformedBodyError: Not one JSON object in a known encoding.
    """
    if len(body) > BODY_LIMIT:
        raise BodyTooLargeError(limit=BODY_LIMIT)
    charset = check_media_type(headers)
    return parse_object(decode(body, charset))


def check_media_type(headers: Mapping[str, str]) -> str:
    """The charset that the headers name, or an empty string.

    Without a browser's ``Origin`` any JSON or text type will do, and none at all; with one it must
    be ``application/json``, which a page of another site cannot send unasked.

    Raises:
        UnsupportedMediaTypeError: Another type, or a compressed body.
    """
    check_not_packed(headers)
    given = headers.get("content-type", "").strip()
    if not given:
        if "origin" in headers:
            raise UnsupportedMediaTypeError(media_type="—")
        return ""
    message = Message()
    message["content-type"] = given
    media_type = given.partition(";")[0].strip().lower()
    if "origin" in headers:
        fits = media_type == "application/json"
    else:
        fits = media_type.startswith("text/") or _JSON_TYPE.fullmatch(media_type) is not None
    if not fits:
        raise UnsupportedMediaTypeError(media_type=media_type)
    return str(message.get_content_charset() or "")


def check_not_packed(headers: Mapping[str, str]) -> None:
    """Refuse a compressed body: nothing here unpacks one.

    Raises:
        UnsupportedMediaTypeError: It is compressed.
    """
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise UnsupportedMediaTypeError(media_type=encoding)


def decode(body: bytes, charset: str = "") -> str:
    """Text of a body: by its byte order mark, else by the named charset, else as the JSON standard guesses.

    Raises:
        MalformedBodyError: Empty, an unknown charset, or bytes that do not fit it.
    """
    if not body.strip():
        raise MalformedBodyError(reason=Phrase("body_empty"))
    encoding = next((name for mark, name in _MARKS if body.startswith(mark)), "")
    if not encoding and charset:
        encoding = _known(charset)
        # Without a mark the width is enough to know; Python would take the machine's byte order.
        if encoding in ("utf-16", "utf-32"):
            encoding = json.detect_encoding(body)
    encoding = encoding or json.detect_encoding(body)
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        shown = encoding.removesuffix("-sig").upper()
        raise MalformedBodyError(reason=Phrase("body_encoding", {"encoding": shown})) from error


def _known(charset: str) -> str:
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        name = ""
    if _CHARSET.fullmatch(name) is None:
        raise MalformedBodyError(reason=Phrase("body_unknown_charset", {"charset": charset}))
    return name


def parse_object(text: str) -> dict[str, object]:
    """One JSON object, each key once, finite numbers only, its texts cleaned of NUL and lone surrogates.

    Raises:
        MalformedBodyError: It is anything else.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
        if not isinstance(value, dict):
            raise MalformedBodyError(reason=Phrase("body_not_object"))
        return {_clean(key): _mended(item) for key, item in value.items()}
    except json.JSONDecodeError as error:
        place = {"line": error.lineno, "column": error.colno}
        raise MalformedBodyError(reason=Phrase("body_not_json", place)) from error
    except RecursionError as error:
        raise MalformedBodyError(reason=Phrase("body_too_deep")) from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise MalformedBodyError(reason=Phrase("body_number")) from error


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise MalformedBodyError(reason=Phrase("body_duplicate_key", {"field": _clean(key)}))
        found[key] = value
    return found


def _no_constant(name: str) -> NoReturn:
    raise MalformedBodyError(reason=Phrase("body_number"))


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _no_constant(digits)


def _mended(value: object) -> object:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _mended(item) for key, item in value.items()}
    return value


def _clean(text: str) -> str:
    return without_surrogates(text.replace("\0", ""))
