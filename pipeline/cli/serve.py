"""``otvet serve``: run the chosen server until Ctrl-C."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import click

from pipeline.cli import console

if TYPE_CHECKING:
    from pipeline.settings import Settings

__all__ = ["choose_server", "run_server", "serve", "server_options"]

_MAKE_ONE = "auto"


def run_server() -> None:
    """Serve the page and the API with the settings in force."""
    from pipeline.web.serving import run_fastapi, run_flask, spare_threads

    settings = _with_token(console.settings())
    place = settings.server
    console.say("serve_started", url=f"{place.address}/", err=True)
    if place.server == "fastapi":
        import server_fastapi

        run_fastapi(server_fastapi.create_app(settings=settings), place.host, place.port)
    else:
        import server_flask

        run_flask(server_flask.create_app(settings=settings), place.host, place.port, spare_threads(settings))


def choose_server(server: str | None, host: str | None, port: int | None, token: str | None) -> None:
    """Take over the options of ``server_options``."""
    if token == _MAKE_ONE:
        token = _new_token()
    console.override(
        {"server.server": server, "server.host": host, "server.port": port, "server.token": token}
    )


def _with_token(settings: Settings) -> Settings:
    """The settings with a token, if the server is to be reached from elsewhere and has none."""
    from pipeline.web.security import is_loopback_host

    if settings.server.token.get_secret_value() or is_loopback_host({"host": settings.server.host}):
        return settings
    console.override({"server.token": _new_token()})
    return console.settings()


def _new_token() -> str:
    token = secrets.token_urlsafe(24)
    console.say("serve_token", token=token, err=True)
    return token


def server_options(command: console.CommandFunction) -> console.CommandFunction:
    """The options that ``serve`` and ``up`` share."""
    for option in (
        click.option("--token", help=console.tell("serve_option_token")),
        click.option("--port", type=click.IntRange(1, 65535), help=console.tell("serve_option_port")),
        click.option("--host", help=console.tell("serve_option_host")),
        click.option(
            "--server", type=click.Choice(["fastapi", "flask"]), help=console.tell("serve_option_server")
        ),
    ):
        command = option(command)
    return command


@click.command(help=console.tell("serve_help"))
@server_options
def serve(server: str | None, host: str | None, port: int | None, token: str | None) -> None:
    """Serve until Ctrl-C."""
    choose_server(server, host, port, token)
    run_server()
