"""Noticing that a client has left while its answer is still being made, under WSGI.

WSGI has no word for it, so each server is asked in its own way: waitress tells (when it runs with
``channel_request_lookahead``), Flask's development server gives the socket itself.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["client_left"]


def client_left(environ: Mapping[str, Any]) -> Callable[[], bool]:
    """A function that tells, at any moment and from any thread, whether the client has left.

    Under a server that offers no way to know it always says no.
    """
    told = environ.get("waitress.client_disconnected")
    if callable(told):
        return lambda: bool(told())
    connection = environ.get("werkzeug.socket")
    if isinstance(connection, socket.socket):
        return lambda: _closed(connection)
    return lambda: False


def _closed(connection: socket.socket) -> bool:
    """True when the other side has closed; bytes that wait to be read are left where they are."""
    try:
        readable, _, _ = select.select([connection], [], [], 0)
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
    except (OSError, ValueError):  # reset by the other side, or closed on ours
        return True
