"""``otvet serve``: run the chosen server until Ctrl-C."""

from __future__ import annotations

import click

from pipeline.cli import console

__all__ = ["run_server", "serve", "server_options"]


def run_server() -> None:
    """Serve the page and the API with the settings in force."""
    from pipeline.web.serving import run_fastapi, run_flask, spare_threads

    settings = console.settings()
    place = settings.server
    console.say("serve_started", url=f"{place.address}/", err=True)
    if place.server == "fastapi":
        import server_fastapi

        run_fastapi(server_fastapi.create_app(settings=settings), place.host, place.port)
    else:
        import server_flask

        run_flask(server_flask.create_app(settings=settings), place.host, place.port, spare_threads(settings))


def server_options(command: console.CommandFunction) -> console.CommandFunction:
    """The options that ``serve`` and ``up`` share."""
    for option in (
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
def serve(server: str | None, host: str | None, port: int | None) -> None:
    """Serve until Ctrl-C."""
    console.override({"server.server": server, "server.host": host, "server.port": port})
    run_server()
