"""The customer's own two commands start the same product: uvicorn with its defaults, and flask run."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from http_harness import TIMEOUT_S, Client
from scripted_service import BlockingService, ScriptedService
from werkzeug.serving import make_server

import server_fastapi
import server_flask
from pipeline.settings import Settings
from pipeline.web.serving import listen

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent

# The real command line with a service that needs no models; nothing else is put in its place.
SCRIPT = """
    import sys, types
    sys.path[:0] = [{root!r}, {here!r}]
    from scripted_service import ScriptedService

    class Made(ScriptedService):
        def start(self):
            print("started", flush=True)
        def close(self):
            print("closed", flush=True)

    bootstrap = types.ModuleType("pipeline.bootstrap")
    bootstrap.create_service = lambda settings: Made()
    sys.modules["pipeline.bootstrap"] = bootstrap
    import pipeline
    pipeline.bootstrap = bootstrap
    sys.argv = {argv!r}
    {start}
"""
COMMANDS = {
    "uvicorn": ("from uvicorn.main import main; main()", ["uvicorn", "server_fastapi:app", "--port"]),
    "flask": ("from flask.cli import main; main()", ["flask", "--app", "server_flask", "run", "--port"]),
}


def wait_for(client, process):
    while process.poll() is None:
        try:
            return client.ask({"question": "отпуск"})
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise AssertionError(process.stderr.read())


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("command", list(COMMANDS))
def test_a_command_serves_and_closes_what_it_made(command, tmp_path):
    with listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    start, argv = COMMANDS[command]
    script = SCRIPT.format(root=str(ROOT), here=str(HERE), argv=[*argv, str(port)], start=start)
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("OTVET_")}
        | {"OTVET_HOME": str(tmp_path)},
    )
    client = Client(port)
    try:
        assert wait_for(client, process).json["question"] == "отпуск"
        assert client.ask({"question": "отпуск"}, "/ask/stream/").status == 200
        assert client.get("/nowhere").json["error"] == "not_found"
        assert client.get("/").header("Content-Type") == "text/html; charset=utf-8"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_S)
    finally:
        process.kill()
        client.close()
    assert [line for line in out.splitlines() if line in ("started", "closed")] == ["started", "closed"], err
    assert "Traceback" not in err


def test_a_websocket_is_closed():
    """Uvicorn offers one where a library for it happens to be installed."""
    sent = []

    async def run():
        async def receive():
            return {"type": "websocket.connect"}

        async def send(message):
            sent.append(message["type"])

        scope = {"type": "websocket", "path": "/ask", "headers": [], "query_string": b"", "root_path": ""}
        await server_fastapi.create_app(ScriptedService(), Settings())(scope, receive, send)

    asyncio.run(run())
    assert sent == ["websocket.close"]


def test_flask_run_survives_a_body_that_breaks_off(caplog):
    server = make_server(
        "127.0.0.1", 0, server_flask.create_app(BlockingService(), Settings()), threaded=True
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    client = Client(server.server_port)
    try:
        connection = client.connect()
        connection.sendall(b"POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        connection.close()
        assert client.get("/health").status == 200
    finally:
        client.close()
        server.shutdown()
        thread.join(TIMEOUT_S)
        server.server_close()
    assert [record for record in caplog.records if record.exc_info] == []
