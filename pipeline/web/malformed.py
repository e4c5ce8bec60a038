"""What is no HTTP at all, answered by the servers themselves before any application sees it.

Both would write a line of plain text, one with the server's name in it; a program that reads JSON
gets the error object here too.
"""

from __future__ import annotations

import uuid
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pipeline.errors import BodyTooLargeError, MalformedHttpError
from pipeline.types import Language
from pipeline.web import jsontext, problems
from pipeline.web.bodies import BODY_LIMIT
from pipeline.web.exchange import JSON
from pipeline.web.security import API_HEADERS

if TYPE_CHECKING:
    import asyncio

__all__ = ["uvicorn_protocol", "waitress_channel"]


def _answer(status: int, language: Language) -> tuple[bytes, list[tuple[str, str]]]:
    request_id = uuid.uuid4().hex
    error = BodyTooLargeError(limit=BODY_LIMIT) if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE else None
    body = jsontext.dumps(problems.problem(error or MalformedHttpError(), language, request_id))
    headers = {**API_HEADERS, "Content-Type": JSON, "X-Request-Id": request_id}
    return body, list(headers.items())


def uvicorn_protocol(language: Language) -> type[asyncio.Protocol]:
    """Uvicorn's HTTP protocol with a JSON answer to what it cannot parse."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Protocol(H11Protocol):
        def send_400_response(self, msg: str) -> None:
            body, headers = _answer(400, language)
            start = h11.Response(status_code=400, headers=[*headers, ("Connection", "close")])
            for event in (start, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
            self.transport.close()

    return Protocol


def waitress_channel(language: Language) -> type[Any]:
    """Waitress's channel with a JSON answer to what it cannot parse or will not take."""
    from waitress.channel import HTTPChannel
    from waitress.task import ErrorTask

    class JsonErrorTask(ErrorTask):  # type: ignore[misc]
        def execute(self) -> None:
            error = self.request.error
            body, headers = _answer(error.code, language)
            self.status = f"{error.code} {error.reason}"
            self.response_headers.extend(headers)
            self.set_close_on_finish()
            self.content_length = len(body)
            self.write(body)

    class Channel(HTTPChannel):  # type: ignore[misc]
        error_task_class = JsonErrorTask

    return Channel
