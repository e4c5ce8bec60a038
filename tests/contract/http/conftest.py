"""Every test of this folder runs over both servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from http_harness import Client, serving
from scripted_service import ScriptedService

from pipeline.settings import Settings


@pytest.fixture(scope="session", params=["fastapi", "flask"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which server."""
    return request.param


Start = Callable[..., Client]


@pytest.fixture
def start(kind: str) -> Iterator[Start]:
    """Starts a server over a service of the test's own."""
    running = []

    def begin(service: object, settings: Settings | None = None) -> Client:
        context = serving(kind, service, settings)
        running.append(context)
        return context.__enter__()

    yield begin
    for context in reversed(running):
        context.__exit__(None, None, None)


@pytest.fixture(scope="session")
def standing(kind: str) -> Iterator[Client]:
    """A server for the whole run, over a service that just answers."""
    with serving(kind, ScriptedService(answer="Вопрос: {question} [1]")) as client:
        yield client
