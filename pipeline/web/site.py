"""The one way in: checks, route, operation, errors. Adapters only translate."""

from __future__ import annotations

import atexit
import logging
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from pipeline.errors import MethodNotAllowedError, NotFoundError, TokenRequiredError
from pipeline.jobs import BatchBook, JobBook, Limits
from pipeline.ports import Service
from pipeline.settings import Settings, load_settings
from pipeline.types import Language
from pipeline.web import problems
from pipeline.web.access import check_token, login_page, wants_page
from pipeline.web.exchange import Context, Request, Response
from pipeline.web.measures import RequestMeter
from pipeline.web.routes import METHODS, Route, allowed_methods
from pipeline.web.schemas import Style
from pipeline.web.security import API_HEADERS, check_host, check_origin

if TYPE_CHECKING:
    from pipeline.library.library import Library

__all__ = ["Site"]

_LOG = logging.getLogger(__name__)


class Site:
    """The product behind an adapter.

    Args:
        service: A service that the caller starts and closes; None makes the real one when it is
            first needed, closed by ``close`` or at the end of the process.
        settings: None reads them at the same moment.
    """

    def __init__(self, service: Service | None = None, settings: Settings | None = None) -> None:
        self._service = service
        self._settings = settings
        self._jobs: JobBook[Style] | None = None
        self._batches: BatchBook | None = None
        self._library: Library | None = None
        self._close: Callable[[], None] | None = None
        self._lock = Lock()
        self._meter = RequestMeter()

    @property
    def settings(self) -> Settings:
        """The settings, read on first use."""
        if self._settings is None:
            self._settings = load_settings().settings
        return self._settings

    def open(self) -> Service:
        """The service; makes it and begins loading in the background where that has not been done."""
        with self._lock:
            if self._service is None:
                from pipeline import bootstrap

                service = bootstrap.create_service(self.settings)
                service.start()
                atexit.register(service.close)
                self._close = service.close
                self._service = service
            return self._service

    def jobs(self) -> JobBook[Style]:
        """The questions asked in the background or under a key."""
        service = self.open()
        with self._lock:
            if self._jobs is None:
                places = self.settings.server.queue_size
                # Besides those in the generator's line, a few that are still searching.
                self._jobs = JobBook(service, Limits(active=places + 8, followers=places))
            return self._jobs

    def batches(self) -> BatchBook:
        """The texts being put under labels."""
        service = self.open()
        with self._lock:
            if self._batches is None:
                self._batches = BatchBook(service)
            return self._batches

    def library(self) -> Library:
        """The knowledge base to be looked after, with the index and the embedder of the service."""
        service = self.open()
        with self._lock:
            if self._library is None:
                from pipeline import bootstrap

                self._library = bootstrap.create_library(self.settings, service)
            return self._library

    def close(self) -> None:
        """Give up what runs in the background; close the service, if it was made here."""
        with self._lock:
            if self._jobs is not None:
                self._jobs.close()
                self._jobs = None
            if self._batches is not None:
                self._batches.close()
                self._batches = None
            # It holds the service's index and embedder.
            self._library = None
            if self._close is not None:
                atexit.unregister(self._close)
                self._close()
                self._close = self._service = None

    def handle(self, request: Request, route: Route | None, params: Mapping[str, str]) -> Response:
        """Answer a request, whatever happens.

        Args:
            request: What the adapter translated.
            route: The line of the table that the adapter chose; None where none fits.
            params: Parts of the path that the route names.
        """
        request_id = uuid.uuid4().hex
        started = time.perf_counter()
        language: Language = "ru"
        try:
            language = problems.choose_language(
                request.headers.get("accept-language", ""), self.settings.language
            )
            response = self._answer(request, route, params, language, request_id)
        except Exception as error:  # noqa: BLE001 - the last place that can still answer; it is logged there
            response = problems.respond(error, language, request_id)
        took, shown = time.perf_counter() - started, request.path[:200]
        method = request.method if request.method in METHODS else "other"
        self._meter.note(route.template if route else "none", method, response.status, took)
        _LOG.info("%s %r %d %.0f ms %s", request.method, shown, response.status, took * 1000, request_id)
        return _finished(request, response, request_id)

    def _answer(
        self,
        request: Request,
        route: Route | None,
        params: Mapping[str, str],
        language: Language,
        request_id: str,
    ) -> Response:
        check_host(request.headers, self.settings.server)
        check_origin(request.method, request.headers)
        try:
            check_token(request, self.settings.server)
        except TokenRequiredError:
            if wants_page(request):
                return login_page(language, request.target)
            raise
        # Starlette lets an empty "{path}" through, Flask does not.
        if route is not None and "" in params.values():
            raise NotFoundError(what=request.path[:200])
        allowed = allowed_methods(request.path) or (route.methods if route else ())
        if not allowed or (route is None and request.method in allowed):
            raise NotFoundError(what=request.path[:200])
        if request.method == "OPTIONS":
            return Response(204, b"", headers={"Allow": ", ".join(allowed)})
        if route is None or request.method not in allowed:
            raise MethodNotAllowedError(method=request.method[:20], allowed=", ".join(allowed))
        context = Context(
            request=request,
            service=self.open(),
            jobs=self.jobs(),
            batches=self.batches(),
            meter=self._meter,
            settings=self.settings,
            library=self.library,
            params=params,
            language=language,
            request_id=request_id,
        )
        return route.operation(context)


def _finished(request: Request, response: Response, request_id: str) -> Response:
    headers = {**API_HEADERS, "X-Request-Id": request_id, **response.headers}
    if response.status in (204, 304):
        return replace(response, headers=headers)
    headers["Content-Type"] = response.content_type
    if not isinstance(response.body, bytes):
        return replace(response, headers=headers)
    headers["Content-Length"] = str(len(response.body))
    return replace(response, body=b"" if request.method == "HEAD" else response.body, headers=headers)
