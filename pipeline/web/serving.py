"""Running either application on a real socket, until Ctrl-C.

Waitress serves Flask: its development server opens a thread for every connection and is not meant
for use. Both servers keep idle connections equally long, name no software in their answers, and
take a socket that is already bound, so that a busy port is told before anything is loaded.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol

from pipeline.errors import AddressUnusableError
from pipeline.jobs import BATCH_LIMITS
from pipeline.messages import Phrase
from pipeline.service import RERANK_LINE, SEARCH_LINE
from pipeline.settings import Settings
from pipeline.types import Language
from pipeline.web.malformed import uvicorn_protocol, waitress_channel

__all__ = [
    "EXTENSION",
    "FastapiServer",
    "FlaskServer",
    "WsgiApp",
    "listen",
    "run_fastapi",
    "run_flask",
    "spare_threads",
]

EXTENSION = "otvet"

# 1C keeps a connection as long as the object lives and fails when it finds it closed.
_KEEP_ALIVE_S = 120
# Past its lines the service refuses at once, so short requests always find a thread among these.
_SPARE_THREADS = 16
# A body over the limit of the contract is still read up to here, so that its sender, which reads
# only after having written all of it, finds the answer 413 and not a broken connection.
_DISCARDED_BYTES = 32 << 20
_SHUTDOWN_S = 3

_REASONS = {
    errno.EADDRINUSE: "port_in_use",
    errno.EACCES: "port_forbidden",
    errno.EADDRNOTAVAIL: "host_not_here",
}


class WsgiApp(Protocol):
    """A Flask application that holds its ``Site`` under ``EXTENSION``."""

    extensions: dict[str, Any]

    def __call__(self, environ: Any, start_response: Any) -> Any:  # noqa: ANN401 - WSGI is untyped
        """WSGI."""
        ...


def spare_threads(settings: Settings) -> int:
    """Threads that let every request of full lines wait, and short ones pass.

    In the lines stand answers, callers that wait for an answer under a key or for a batch of texts, and
    searches.
    """
    return (
        2 * settings.server.queue_size + BATCH_LIMITS.followers + SEARCH_LINE + RERANK_LINE + _SPARE_THREADS
    )


def listen(host: str, port: int) -> socket.socket:
    """A bound, listening socket; port 0 takes any free one.

    Raises:
        AddressUnusableError: The port is taken or forbidden, or the address is not this machine's.
    """
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise AddressUnusableError(address=address, reason=Phrase("host_not_here")) from error
    found = socket.socket(family, kind, protocol)
    try:
        if sys.platform == "win32":
            # There SO_REUSEADDR would let two servers share a port, each getting some requests.
            found.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(place)
        found.listen(128)
    except OSError as error:
        found.close()
        key = _REASONS.get(error.errno or 0)
        reason = Phrase(key) if key else error.strerror or str(error)
        raise AddressUnusableError(address=address, reason=reason) from error
    return found


class FastapiServer:
    """Uvicorn on a bound socket."""

    def __init__(self, app: Callable[..., Any], bound: socket.socket, language: Language = "ru") -> None:
        import uvicorn

        class Server(uvicorn.Server):
            async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
                # Closed connections cancel the requests that still run, so the end comes soon.
                for connection in list(self.server_state.connections):
                    connection.transport.close()
                await super().shutdown(sockets)

        self._bound = bound
        self._server = Server(
            uvicorn.Config(
                app,
                # One parser whatever else is installed, so that both servers stay comparable.
                http=uvicorn_protocol(language),
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=_SHUTDOWN_S,
            )
        )

    def run(self) -> None:
        """Serve until ``stop``, Ctrl-C or a termination signal; then close the socket."""
        # Uvicorn handles the signal itself and then raises it again for this handler.
        _end_on_termination(self.stop)
        try:
            self._server.run(sockets=[self._bound])
        except KeyboardInterrupt:
            return
        finally:
            self._bound.close()

    def stop(self) -> None:
        """Ask ``run`` to end; may be called from any thread."""
        self._server.should_exit = True


class FlaskServer:
    """Waitress on a bound socket."""

    def __init__(self, app: WsgiApp, bound: socket.socket, threads: int, language: Language = "ru") -> None:
        import waitress

        # It warns of every request that waits a moment for a thread.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        self._site = app.extensions[EXTENSION]
        self._map: dict[int, Any] = {}
        self._stopping = threading.Event()
        self._use_poll = hasattr(select, "poll")
        self._server = waitress.create_server(
            app,
            map=self._map,
            sockets=[bound],
            threads=threads,
            ident=None,
            channel_timeout=_KEEP_ALIVE_S,
            # Without it the end of a connection is noticed only when something is written to it.
            channel_request_lookahead=1,
            connection_limit=400,
            asyncore_use_poll=self._use_poll,
            max_request_body_size=_DISCARDED_BYTES,
        )
        self._server.channel_class = waitress_channel(language)

    def run(self) -> None:
        """Serve until ``stop``, Ctrl-C or a termination signal; then close the socket."""
        from waitress import wasyncore

        _end_on_termination(self.stop)
        # WSGI has no word for the start of an application, and loading should not wait for a request.
        self._site.open()
        try:
            while not self._stopping.is_set():
                wasyncore.loop(timeout=1, use_poll=self._use_poll, map=self._map, count=1)
        except KeyboardInterrupt:
            return
        finally:
            # Closed connections cancel the requests that still run, so the threads end soon.
            for channel in list(self._server.active_channels.values()):
                channel.handle_close()
            self._server.task_dispatcher.shutdown(timeout=_SHUTDOWN_S)
            wasyncore.close_all(self._map)
            self._site.close()

    def stop(self) -> None:
        """Ask ``run`` to end; may be called from any thread."""
        self._stopping.set()
        # The loop may have been awake: then it has ended by now, and closed its trigger.
        with contextlib.suppress(OSError):
            self._server.pull_trigger()


def _end_on_termination(stop: Callable[[], None]) -> None:
    """Make a termination signal end ``run`` as Ctrl-C does, so that its caller can clean up."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: stop())


def run_fastapi(app: Callable[..., Any], host: str, port: int) -> None:
    """Serve an ASGI application until Ctrl-C.

    Raises:
        AddressUnusableError: Nothing can listen there.
    """
    FastapiServer(app, listen(host, port)).run()


def run_flask(app: WsgiApp, host: str, port: int, threads: int) -> None:
    """Serve a WSGI application until Ctrl-C.

    Args:
        app: As ``server_flask.create_app`` makes it.
        host: A name or an address of this machine.
        port: 0 takes any free one.
        threads: ``spare_threads`` of the settings.

    Raises:
        AddressUnusableError: Nothing can listen there.
    """
    FlaskServer(app, listen(host, port), threads).run()
