"""Who may ask: programs on this machine and our own page, nobody else's.

A page of any site can make the browser of the person who opened it call ``127.0.0.1``. Two things
give it away: its ``Origin`` (or the fetch metadata newer browsers add), and, when it has its own
name point to this machine (DNS rebinding), its ``Host``. No CORS header is ever sent.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from pipeline.errors import ForbiddenHostError, ForbiddenOriginError
from pipeline.settings import ServerSettings

__all__ = ["API_HEADERS", "check_host", "check_origin", "is_loopback_host", "page_headers"]

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:/@\[\],]+)(?::([0-9]{1,5}))?")
_DEFAULT_PORTS = ("80", "443")

API_HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def page_headers(inline_style: str = "") -> dict[str, str]:
    """Headers of an HTML page: everything from this server, nothing inline but one known style."""
    style = "'self'"
    if inline_style:
        digest = base64.b64encode(hashlib.sha256(inline_style.encode()).digest()).decode()
        style += f" 'sha256-{digest}'"
    policy = (
        f"default-src 'none'; script-src 'self'; style-src {style}; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
    return {"Content-Security-Policy": policy}


def check_host(headers: Mapping[str, str], server: ServerSettings) -> None:
    """Let through loopback names, the address the server listens on, and ``allowed_hosts``.

    Raises:
        ForbiddenHostError: Any other name, or none.
    """
    name, _ = _split(headers.get("host", ""))
    own = {_ascii(allowed) for allowed in (*server.allowed_hosts, server.host)}
    known = _is_loopback(name) or (name in own and not _is_unspecified(name))
    # Names can be made to point here by anybody, addresses cannot; with a token in force they may be any.
    open_to_all = _is_unspecified(_ascii(server.host)) and bool(server.token.get_secret_value())
    if not name or not (known or (open_to_all and _is_address(name))):
        raise ForbiddenHostError(host=headers.get("host", "")[:100])


def is_loopback_host(headers: Mapping[str, str]) -> bool:
    """True when the caller named this machine by a loopback name or address."""
    return _is_loopback(_split(headers.get("host", ""))[0])


def check_origin(method: str, headers: Mapping[str, str]) -> None:
    """Refuse what a page of another site asks; a person may still follow its link to our pages.

    Raises:
        ForbiddenOriginError: The request comes from another site's page.
    """
    origin = headers.get("origin")
    if origin is not None and _split_origin(origin) != _split(headers.get("host", "")):
        raise ForbiddenOriginError(origin=origin[:100])
    site = headers.get("sec-fetch-site", "none")
    follows_link = method in ("GET", "HEAD") and headers.get("sec-fetch-mode") == "navigate"
    if site not in ("none", "same-origin") and not follows_link:
        raise ForbiddenOriginError(origin=site[:100])


def _split(host: str) -> tuple[str, str]:
    """Name in lower case and port; an empty port stands for the default one."""
    match = _HOST.fullmatch(host.strip().lower())
    if match is None:
        return "", ""
    name, port = match.groups(default="")
    return name.strip("[]").rstrip("."), "" if port in _DEFAULT_PORTS else port


def _split_origin(origin: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path or parts.query:
        return None
    return _split(parts.netloc)


def _is_loopback(name: str) -> bool:
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        return not ip_address(name).is_unspecified
    except ValueError:
        return False


def _is_unspecified(name: str) -> bool:
    try:
        return ip_address(name).is_unspecified
    except ValueError:
        return False


def _ascii(name: str) -> str:
    """The form in which a browser sends a name: lower case, and ASCII where it has other letters."""
    name = _split(name)[0] or name.strip().lower()
    try:
        return name.encode("idna").decode("ascii")
    except UnicodeError:
        return name
