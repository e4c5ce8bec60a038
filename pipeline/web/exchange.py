"""A request and a response as the neutral part sees them; the adapters translate both ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipeline.jobs import BatchBook, JobBook
from pipeline.ports import Service
from pipeline.settings import Settings
from pipeline.types import Language
from pipeline.web.measures import RequestMeter
from pipeline.web.schemas import Style

if TYPE_CHECKING:
    from pipeline.library.library import Library

__all__ = ["HTML", "JSON", "Context", "Request", "Response", "joined"]

HTML = "text/html; charset=utf-8"
JSON = "application/json; charset=utf-8"
_NAME_LIMIT = 100


def joined(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers by name in lower case; those sent more than once joined with commas."""
    found: dict[str, str] = {}
    for written, value in headers:
        name = written.lower()
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


@dataclass(frozen=True, slots=True)
class Request:
    """What an adapter hands over.

    Attributes:
        path: Decoded path, for messages only; the adapter has already chosen the route.
        query: The query string as sent, still percent-encoded.
        headers: As ``joined`` gives them.
        body: The bytes of the body, at most ``BODY_LIMIT`` + 1 of them.
        scheme: ``http`` or ``https``.
        address: Address of the caller, without port.
        cancelled: True soon after the client has closed its connection.
    """

    method: str
    path: str
    query: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    scheme: str = "http"
    address: str = ""
    cancelled: Callable[[], bool] = lambda: False

    @property
    def client(self) -> str:
        """Who asks, for a fair order: the address, and the name it gives each of its users, if it does."""
        return " ".join(filter(None, (self.address, self.headers.get("x-client", "")[:_NAME_LIMIT])))

    @property
    def target(self) -> str:
        """Path and query, as one would follow them."""
        query = self.query.decode("ascii", "replace")
        return f"{self.path}?{query}" if query else self.path

    @property
    def base_url(self) -> str:
        """The address of this server as the caller wrote it, without a final slash."""
        return f"{self.scheme}://{self.headers.get('host', '')}"


@dataclass(frozen=True, slots=True)
class Response:
    """What an adapter sends back; an iterator of bytes is sent piece by piece as it comes."""

    status: int
    body: bytes | Iterator[bytes]
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Context:
    """All that an operation may look at.

    Attributes:
        jobs: Questions asked in the background or under a key.
        batches: Texts being put under labels.
        meter: What was asked of this server so far.
        library: The knowledge base to be looked after.
        params: Parts of the path that the route names.
        language: Language of messages, by ``Accept-Language``, else by the settings.
    """

    request: Request
    service: Service
    jobs: JobBook[Style]
    batches: BatchBook
    meter: RequestMeter
    settings: Settings
    library: Callable[[], Library]
    params: Mapping[str, str]
    language: Language
    request_id: str
