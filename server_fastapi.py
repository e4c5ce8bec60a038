"""Otvet over FastAPI: ``uvicorn server_fastapi:app``. All that it does is in ``pipeline.web``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Event

import anyio.to_thread
from fastapi import FastAPI
from starlette import requests, responses, routing
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from pipeline import __version__
from pipeline.ports import Service
from pipeline.settings import Settings
from pipeline.web.bodies import BODY_LIMIT
from pipeline.web.exchange import Request, Response, joined
from pipeline.web.routes import INSTANT, ROUTES, Route
from pipeline.web.serving import spare_threads
from pipeline.web.site import Site

__all__ = ["app", "create_app"]


class _Endpoint:
    """One line of the table as an ASGI application; without a line, whatever no line answers."""

    def __init__(self, site: Site, route: Route | None = None) -> None:
        self._site = site
        self._route = route
        self._instant = route is not None and route.template in INSTANT

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        asked = requests.Request(scope, receive)
        try:
            body = await _read(asked, self._route.body_limit if self._route else BODY_LIMIT)
        except requests.ClientDisconnect:
            return
        left = Event()
        watcher = asyncio.create_task(_watch(receive, left))
        try:
            asked_for = _translated(asked, body, left), self._route, scope.get("path_params", {})
            handle = self._site.handle
            answer = handle(*asked_for) if self._instant else await run_in_threadpool(handle, *asked_for)
            await _response(answer)(scope, receive, send)
        finally:
            left.set()
            watcher.cancel()


async def _read(asked: requests.Request, limit: int) -> bytes:
    body = bytearray()
    async for part in asked.stream():
        body += part
        if len(body) > limit:
            break
    return bytes(body)


async def _watch(receive: Receive, left: Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    left.set()


def _translated(asked: requests.Request, body: bytes, left: Event) -> Request:
    return Request(
        method=asked.method,
        path=asked.scope["path"],
        query=asked.scope["query_string"],
        headers=joined(asked.headers.items()),
        body=body,
        scheme=asked.url.scheme,
        address=asked.client.host if asked.client else "",
        cancelled=left.is_set,
    )


def _response(answer: Response) -> responses.Response:
    if isinstance(answer.body, bytes):
        return responses.Response(answer.body, answer.status, answer.headers)
    return responses.StreamingResponse(answer.body, answer.status, answer.headers)


def create_app(service: Service | None = None, settings: Settings | None = None) -> FastAPI:
    """The application; a service given here is started and closed by the caller, else made at start."""
    site = Site(service, settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(site.open)
        anyio.to_thread.current_default_thread_limiter().total_tokens = spare_threads(site.settings)
        yield
        await run_in_threadpool(site.close)

    table = [
        routing.Route(template, _Endpoint(site, route), methods=list(route.methods))
        for route in ROUTES
        for template in route.templates
    ]
    # The contract is our own /openapi.json; the ready-made documentation pages load scripts from a CDN.
    made = FastAPI(
        title="Otvet",
        version=__version__,
        openapi_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        routes=[*table, routing.Mount("/", _Endpoint(site))],
    )
    made.router.default = _Endpoint(site)  # a line break fits no pattern, not even that of the mount
    return made


app = create_app()
