"""Otvet over Flask: ``flask --app server_flask run``. All that it does is in ``pipeline.web``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

import flask
from werkzeug.exceptions import ClientDisconnected, HTTPException
from werkzeug.wsgi import get_input_stream

from pipeline.ports import Service
from pipeline.settings import Settings
from pipeline.web.bodies import BODY_LIMIT, read_body
from pipeline.web.departures import client_left
from pipeline.web.exchange import Request, Response, joined
from pipeline.web.routes import ROUTES, Route
from pipeline.web.serving import EXTENSION
from pipeline.web.site import Site

__all__ = ["app", "create_app"]


def _body(limit: int) -> bytes:
    try:
        return read_body(get_input_stream(flask.request.environ).read, limit)
    except ClientDisconnected:
        return b""


def _translated(limit: int) -> Request:
    asked = flask.request
    return Request(
        method=asked.method,
        path=asked.path,
        query=asked.query_string,
        headers=joined(asked.headers.items()),
        body=_body(limit),
        scheme=asked.scheme,
        address=asked.remote_addr or "",
        cancelled=client_left(asked.environ),
    )


def _response(answer: Response) -> flask.Response:
    made = flask.Response(answer.body, answer.status)
    # Flask gives every response a type, even one that has no body.
    made.headers.clear()
    made.headers.update(answer.headers)
    return made


def _view(site: Site, route: Route | None) -> Callable[..., flask.Response]:
    def view(**params: str) -> flask.Response:
        limit = route.body_limit if route else BODY_LIMIT
        return _response(site.handle(_translated(limit), route, params))

    return view


def create_app(service: Service | None = None, settings: Settings | None = None) -> flask.Flask:
    """The application; a service given here is started and closed by the caller, else made when needed."""
    site = Site(service, settings)
    made = flask.Flask(__name__, static_folder=None)
    made.extensions[EXTENSION] = site
    # Werkzeug would answer a doubled slash with a redirect, which 1C does not follow.
    made.url_map.merge_slashes = False
    for route in ROUTES:
        for template in route.templates:
            made.add_url_rule(
                re.sub(r"\{(\w+):path\}", r"<path:\1>", template).replace("{", "<").replace("}", ">"),
                endpoint=f"{route.method} {template}",
                view_func=_view(site, route),
                methods=route.methods,
                provide_automatic_options=False,
            )

    def unrouted(error: Exception) -> flask.Response:
        return _view(site, None)()

    made.register_error_handler(HTTPException, cast(Callable[[Exception], flask.Response], unrouted))
    return made


app = create_app()
