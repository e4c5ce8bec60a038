"""The token: off this machine nothing is answered without it.

A program sends it as ``Authorization: Bearer …``, as the OpenAI clients do. A person enters it once on a page
of our own, and the browser keeps a cookie that no script can read and that no other site's page can send. The
cookie holds what is derived from the token, so that the token itself is never stored in a browser.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from html import escape
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, quote

from pipeline.errors import TokenRequiredError, UnsupportedMediaTypeError
from pipeline.messages import text
from pipeline.settings import ServerSettings
from pipeline.types import Language
from pipeline.web.exchange import HTML, Context, Request, Response
from pipeline.web.security import is_loopback_host, page_headers

__all__ = ["check_token", "enter", "login", "login_page", "wants_page"]

COOKIE = "otvet"
OPEN = ("/health", "/login")
"""Addresses that answer without a token: whether the process lives, and the page where it is entered."""

_DAYS = 30
_FORM = "application/x-www-form-urlencoded"
_STYLE = """
:root{color-scheme:light dark}
body{font:17px/1.5 system-ui,"Segoe UI",Arial,sans-serif;margin:0 auto;padding:12vh 16px;max-width:26em}
h1{font-size:1.4em;margin:0 0 .5em}
label{display:block;margin:1em 0 .3em}
input,button{box-sizing:border-box;width:100%;font:inherit;padding:.6em;
border:1px solid #767676;border-radius:6px}
button{margin-top:1em;border:0;background:#0f5c56;color:#fff;font-weight:600;cursor:pointer}
[role=alert]{color:#a03a12;font-weight:600}
@media (prefers-color-scheme:dark){body{background:#141618;color:#ebe8e1}
button{background:#7bd3c6;color:#0c2522}
[role=alert]{color:#ffa47f}}
""".strip()


def check_token(request: Request, server: ServerSettings) -> None:
    """Let through who has the token; where none is set, whoever calls this machine by its own name.

    Raises:
        TokenRequiredError: The token is missing or wrong, or none is set and the call came by another name.
    """
    token = server.token.get_secret_value()
    if request.path.rstrip("/") in OPEN:
        return
    if not token:
        if not is_loopback_host(request.headers):
            raise TokenRequiredError
        return
    if not (_bears(request.headers, token) or _remembers(request.headers, token)):
        raise TokenRequiredError


def wants_page(request: Request) -> bool:
    """True when a person's browser asks for a page, and not a program or a script for data."""
    if request.method not in ("GET", "HEAD"):
        return False
    mode = request.headers.get("sec-fetch-mode")
    return mode == "navigate" if mode else "text/html" in request.headers.get("accept", "")


def login_page(language: Language, target: str = "/", *, wrong: bool = False) -> Response:
    """The page where the token is entered, status 401."""

    def said(key: str) -> str:
        return escape(text("answers", key, language))

    alert = f'<p role="alert">{said("login_wrong")}</p>' if wrong else ""
    page = (
        f'<!DOCTYPE html>\n<html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Otvet</title><style>{_STYLE}</style></head><body><main><h1>{said('login_title')}</h1>"
        f"<p>{said('login_lead')}</p>{alert}"
        f'<form method="post" action="/login"><input type="hidden" name="next" value="{escape(target)}">'
        f'<label for="token">{said("login_field")}</label>'
        '<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>'
        f'<button type="submit">{said("login_go")}</button></form></main></body></html>'
    )
    # Under "no-referrer" a browser sends its form with the origin "null", which `check_origin` refuses.
    headers = {**page_headers(_STYLE), "Referrer-Policy": "same-origin", "WWW-Authenticate": "Bearer"}
    return Response(401, page.encode(), HTML, headers)


def login(context: Context) -> Response:
    """``GET /login``: the page where the token is entered."""
    return login_page(context.language)


def enter(context: Context) -> Response:
    """``POST /login``: with the right token a cookie and the way on, else the page again.

    Raises:
        UnsupportedMediaTypeError: Not the form of our page.
    """
    request, token = context.request, context.settings.server.token.get_secret_value()
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != _FORM:
        raise UnsupportedMediaTypeError(media_type=media_type or "—")
    fields = _fields(request.body)
    target, given = _inside(fields.get("next", "/")), fields.get("token", "").strip()
    if not token or not _same(given, token):
        return login_page(context.language, target, wrong=True)
    secure = "; Secure" if request.scheme == "https" else ""
    cookie = f"{COOKIE}={_derived(token)}; Path=/; Max-Age={_DAYS * 86400}; HttpOnly; SameSite=Strict{secure}"
    return Response(303, b"", HTML, {"Set-Cookie": cookie, "Location": target})


def _bears(headers: Mapping[str, str], token: str) -> bool:
    kind, _, given = headers.get("authorization", "").partition(" ")
    return kind.lower() == "bearer" and _same(given.strip(), token)


def _remembers(headers: Mapping[str, str], token: str) -> bool:
    try:
        cookie = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return False
    return COOKIE in cookie and _same(cookie[COOKIE].value, _derived(token))


def _same(given: str, expected: str) -> bool:
    """In a time that tells nothing of where they differ, nor of their lengths."""
    one, two = (hashlib.sha256(value.encode("utf-8", "replace")).digest() for value in (given, expected))
    return hmac.compare_digest(one, two)


def _derived(token: str) -> str:
    return hmac.new(token.encode(), b"otvet cookie", hashlib.sha256).hexdigest()


def _fields(body: bytes) -> dict[str, str]:
    """What a form says, each field once; nothing where it holds more fields than ours."""
    try:
        found = parse_qs(body.decode("utf-8", "replace"), max_num_fields=10)
    except ValueError:
        return {}
    return {name: values[0] for name, values in found.items()}


def _inside(target: str) -> str:
    """An address of this server, whatever was asked for."""
    # Browsers take a backslash for a slash, and two slashes for the beginning of another server's name.
    if not target.startswith("/") or target.replace("\\", "/").startswith("//"):
        return "/"
    return quote(target, safe="/?&=%#-._~:@!$'()*+,;")
